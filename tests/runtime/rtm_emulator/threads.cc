// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Isolation: one thread runs at a time, the one that has the baton. The functions by which threads
// begin, end and wait are here too, so that it goes around.
#include "state.h"

#include <cerrno>
#include <cstdarg>
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>

// NOLINTBEGIN(performance-no-int-to-ptr): addresses come from the kernel, as numbers

namespace tandem::rtm_emulator {
namespace {

void take(std::size_t index) noexcept {
  while (slot(index).runs.load(std::memory_order_acquire) == 0)
    wait_on(slot(index).runs, 0);
  slot(index).runs.store(0, std::memory_order_relaxed);
  slot(index).has_baton = true;
  slot(index).faults = 0;
}

// Gives the baton to another thread; false where there is none.
bool give(std::size_t own) noexcept {
  const std::size_t end = slots_end.load(std::memory_order_acquire);
  const std::size_t first = random() % end;
  for (std::size_t i = 0; i < end; ++i) {
    const std::size_t next = (first + i) % end;
    if (next == own || slot(next).life.load(std::memory_order_acquire) != Life::alive)
      continue;
    slot(own).has_baton = false;
    slot(next).runs.store(1, std::memory_order_release);
    wake(slot(next).runs);
    return true;
  }
  return false;
}

class TickBlocked {
public:
  TickBlocked() noexcept { set_mask(SIG_BLOCK, kTickMask, &before_); }
  TickBlocked(const TickBlocked &) = delete;
  TickBlocked &operator=(const TickBlocked &) = delete;
  ~TickBlocked() { set_mask(SIG_SETMASK, before_, nullptr); }

private:
  std::uint64_t before_ = 0;
};

// The given attributes, or the default ones, for a thread that begins with the tick blocked.
class AttributesOfThread {
public:
  explicit AttributesOfThread(const pthread_attr_t *given) noexcept
      : given_(const_cast<pthread_attr_t *>(given)) {
    if (given_ == nullptr && pthread_getattr_default_np(&own_) != 0)
      die("no attributes of a thread");
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, nullptr, &mask);
    sigaddset(&mask, kTick);
    if (pthread_attr_setsigmask_np(get(), &mask) != 0)
      die("a thread cannot begin with a signal blocked");
  }
  AttributesOfThread(const AttributesOfThread &) = delete;
  AttributesOfThread &operator=(const AttributesOfThread &) = delete;
  ~AttributesOfThread() {
    if (given_ == nullptr)
      pthread_attr_destroy(&own_);
    else
      pthread_attr_setsigmask_np(
          given_, nullptr); // as it was: no test has a mask there, or threads that share them
  }
  pthread_attr_t *get() const noexcept { return given_ == nullptr ? &own_ : given_; }

private:
  pthread_attr_t *given_;
  mutable pthread_attr_t own_;
};

std::size_t new_slot() noexcept {
  const TickBlocked blocked;
  return free_slot();
}

bool transacts() noexcept {
  return arena == nullptr || arena->transaction.active.load(std::memory_order_acquire);
}

// The calling thread lets another one run.
void let_others_run() noexcept {
  const TickBlocked blocked;
  const std::size_t own = slot_of_thread();
  tick_pending = false;
  if (give(own))
    take(own);
  else
    nap();
}

void *trampoline(void *given) {
  const auto own = reinterpret_cast<std::uintptr_t>(given);
  adopt_thread(own);
  slot(own).life.store(Life::alive, std::memory_order_release);
  slot(own).ready.store(1, std::memory_order_release);
  wake(slot(own).ready);
  take(own);
  set_mask(SIG_UNBLOCK, kTickMask, nullptr);
  return slot(own).start(slot(own).argument);
}

template <class Function> Function *next(const char *name) noexcept {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

} // namespace

void pass_on(std::size_t own) noexcept {
  tick_pending = false;
  if (give(own))
    take(own);
}

// A thread that has given the baton up for good is in the C library's code for the end of a thread,
// and the kernel writes to its memory when it is gone; one that has not yet waited for it is in the
// code for the begin of a thread. No memory may be read-only then.
void wait_for_starting_and_dying(std::size_t own) noexcept {
  for (std::size_t i = 0; i < slots_end.load(std::memory_order_acquire); ++i) {
    const Life life = slot(i).life.load(std::memory_order_acquire);
    if (life == Life::none || life == Life::alive)
      continue;
    if (life == Life::dying && call(SYS_tgkill, pid, slot(i).tid, 0) == -ESRCH) {
      slot(i).life.store(Life::none, std::memory_order_release);
      continue;
    }
    nap();
    pass_on(own);           // it may wait for one of the others, and so may its creator
    i = std::size_t{0} - 1; // more may have begun or ended while they ran
  }
}

std::size_t slot_of_thread() noexcept {
  return reinterpret_cast<std::uintptr_t>(pthread_getspecific(exit_key)) - 1;
}

void adopt_thread(std::size_t own) noexcept {
  stack_t stack = {};
  stack.ss_sp = arena->stacks[own];
  stack.ss_size = kStack;
  slot(own).selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  slot(own).tid = static_cast<int>(call(SYS_gettid));
  slot(own).destructions = 0;
  slot(own).has_baton = false;
  slot(own).faults = 0;
  if (call(SYS_sigaltstack, at(&stack)) != 0)
    die("a thread cannot have a stack for handlers");
  if (prctl(PR_SET_SYSCALL_USER_DISPATCH, PR_SYS_DISPATCH_ON, text_low, text_high - text_low,
            &slot(own).selector) != 0)
    die("the kernel has no syscall user dispatch");
  pthread_setspecific(exit_key, reinterpret_cast<void *>(own + 1));
}

std::size_t free_slot() noexcept {
  for (std::size_t i = 0; i < kSlots; ++i) {
    Slot &candidate = slot(i);
    if (candidate.life.load(std::memory_order_acquire) == Life::dying &&
        call(SYS_tgkill, pid, candidate.tid, 0) == -ESRCH)
      candidate.life.store(Life::none, std::memory_order_release);
    if (candidate.life.load(std::memory_order_acquire) != Life::none)
      continue;
    candidate.life.store(Life::starting, std::memory_order_release);
    if (i >= slots_end.load(std::memory_order_relaxed))
      slots_end.store(i + 1, std::memory_order_release);
    return i;
  }
  die("too many threads");
}

// Of a thread that ends: in the last round, when all else has been destroyed.
void on_exit(void *given) {
  const std::size_t own = reinterpret_cast<std::uintptr_t>(given) - 1;
  pthread_setspecific(exit_key, given);
  if (++slot(own).destructions < PTHREAD_DESTRUCTOR_ITERATIONS)
    return;
  set_mask(SIG_BLOCK, kTickMask, nullptr);
  slot(own).life.store(Life::dying, std::memory_order_release);
  give(own);
}

} // namespace tandem::rtm_emulator

using namespace tandem::rtm_emulator;

#define EMULATOR extern "C" __attribute__((visibility("default")))

// What a thread waits by keeps the baton going around. All may return early, as they may when a
// signal comes; inside a transaction they are system calls, which end it.

EMULATOR int pthread_create(pthread_t *thread, const pthread_attr_t *attributes,
                            void *(*start)(void *), void *argument) noexcept {
  static auto *real = next<decltype(pthread_create)>("pthread_create");
  if (transacts())
    return real(thread, attributes, start, argument);
  const AttributesOfThread made_of(attributes);
  const std::size_t child = new_slot();
  slot(child).start = start;
  slot(child).argument = argument;
  slot(child).ready.store(0, std::memory_order_relaxed);
  slot(child).runs.store(0, std::memory_order_relaxed);
  // The tick goes on: memory for the new thread may have to wait for who allocates just now.
  const int error = real(thread, made_of.get(), trampoline, reinterpret_cast<void *>(child));
  if (error != 0)
    slot(child).life.store(Life::none, std::memory_order_release);
  else
    while (slot(child).ready.load(std::memory_order_acquire) == 0)
      wait_on(slot(child).ready, 0);
  return error;
}

EMULATOR int pthread_join(pthread_t thread, void **result) {
  static auto *real = next<decltype(pthread_join)>("pthread_join");
  if (transacts())
    return real(thread, result);
  int error = 0;
  while ((error = pthread_tryjoin_np(thread, result)) == EBUSY)
    let_others_run();
  return error;
}

EMULATOR int sched_yield() noexcept {
  if (transacts())
    return static_cast<int>(::syscall(SYS_sched_yield));
  let_others_run();
  return 0;
}

EMULATOR int usleep(useconds_t time) {
  static auto *real = next<decltype(usleep)>("usleep");
  if (transacts())
    return real(time);
  timespec now;
  timespec begin;
  clock_gettime(CLOCK_MONOTONIC, &begin);
  do {
    let_others_run();
    clock_gettime(CLOCK_MONOTONIC, &now);
  } while ((now.tv_sec - begin.tv_sec) * 1'000'000 + (now.tv_nsec - begin.tv_nsec) / 1000 <
           static_cast<long>(time));
  return 0;
}

EMULATOR long syscall(long number, ...) noexcept {
  va_list list;
  va_start(list, number);
  const long a = va_arg(list, long);
  const long b = va_arg(list, long);
  const long c = va_arg(list, long);
  const long d = va_arg(list, long);
  const long e = va_arg(list, long);
  const long f = va_arg(list, long);
  va_end(list);
  if (number == SYS_futex && !transacts() && (b & FUTEX_CMD_MASK) == FUTEX_WAIT) {
    if (reinterpret_cast<std::atomic<std::uint32_t> *>(a)->load() !=
        static_cast<std::uint32_t>(c)) {
      errno = EAGAIN;
      return -1;
    }
    let_others_run();
    return 0;
  }
  static auto *real = next<long(long, ...)>("syscall");
  return real(number, a, b, c, d, e, f);
}

// NOLINTEND(performance-no-int-to-ptr)
