// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases of a program's parts under the hybrid plan: when their sections hold locks (the program's
// own, or their colours) and when they are transactions. Lev, Moir and Nussbaum, "PhTM: Phased
// Transactional Memory", TRANSACT 2007; when to change, after Usui, Behrends, Evans and
// Smaragdakis, "Adaptive Locks", PACT 2009: where threads wait for locks, transactions are tried,
// and kept where more sections run in the same time.
//
// Changing:   phase := changing; every thread passes a fence; wait until no other thread's mark is
//             in a section; phase := the new one
// Entering:   mark := in a section; if the phase is not that of the mark: mark := outside, again
//
// Of the two stores and two loads one side sees the other's, as in colours.h. Nothing waits for
// ever: who changes gives up after kGiveUpNs (a section may itself wait for a thread that waits to
// enter one), and goes back to the phase that was.
//
// Lock order: `members` is a leaf.
#include "runtime/phases/phases.h"

#include "runtime/fatal.h"
#include "runtime/irrevocable/barrier.h"
#include "runtime/irrevocable/colours.h"
#include "runtime/phases/share.h"
#include "runtime/phases/trial.h"
#include "runtime/settings/environment.h"
#include "runtime/sync/futex.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <pthread.h>

#define TANDEM_THREAD_LOCAL __thread __attribute__((tls_model("initial-exec")))
#define TANDEM_EXPORT __attribute__((visibility("default")))

extern "C" {
alignas(64) TANDEM_EXPORT uint32_t _TANDEM_phase[TANDEM_PARTS] = {}; // TANDEM_PHASE_LOCKS
TANDEM_EXPORT __thread tandem_phase_mark _TANDEM_phase_mark = {};    // TANDEM_STATE_NEW
}

namespace tandem::phases {
namespace {

// Nanoseconds.
constexpr std::int64_t kGiveUpNs = 20'000'000; // a change takes microseconds, or does not end
// Waiting that a thread keeps to itself, before it adds it to what all share.
constexpr std::int64_t kToldNs = kWindowNs / 100;
constexpr std::uint64_t kToldTicks = 2 * kToldNs; // about the same
// A thread looks at the clock each so many transactions, or where these are long, more often: about
// as often as there may be something to judge.
constexpr std::uint64_t kLookEach = 64;
constexpr std::int64_t kLookNs = kPartNs / 4;

struct Member {
  tandem_phase_mark *mark;
  Member *next;
};

pthread_mutex_t members = PTHREAD_MUTEX_INITIALIZER;
Member *first_member = nullptr; // threads that have entered a section, guarded by `members`
std::uint64_t departed[TANDEM_PARTS] = {}; // sections that threads entered which have exited
TANDEM_THREAD_LOCAL Member own = {nullptr, nullptr};
pthread_key_t exit_key;

std::atomic<bool> adaptive{true};
// The user asks for an algorithm or a profile of transactions: marked sections are transactions.
bool asked_for_transactions = false;

// A part of the program, which changes its phase by itself.
// On lines of its own: threads of one part do not disturb those of another.
struct alignas(64) Part {
  // The last phase that was entered, not one that is being left; a forked child begins in it.
  std::uint32_t settled = TANDEM_PHASE_LOCKS;
  std::atomic<std::int64_t> waited{0}; // nanoseconds for locks, since the window began
  std::atomic<std::int64_t> due{0};    // nobody has anything to judge before it
  std::atomic<bool> judging{false};    // one thread at a time; guards what follows
  std::atomic<bool> converted{false};  // its sections were locks, so that processor time counts
  Trial trial;
  Share share;
};
constinit Part parts[TANDEM_PARTS];

// Of this thread, not in Part::waited yet.
struct Untold {
  std::int64_t ns;
  std::uint64_t ticks;
};
TANDEM_THREAD_LOCAL Untold own_untold[TANDEM_PARTS] = {};

// When the thread looked at the clock last in the phase of transactions, and the section and the
// distance of the next look.
struct Look {
  std::int64_t time;
  std::uint64_t next;
  std::uint64_t each;
};
TANDEM_THREAD_LOCAL Look own_look[TANDEM_PARTS] = {};

// How long a tick of the processor is, from two moments of the thread, less than some seconds
// apart: a machine may sleep, in which one of the two clocks goes on.
struct Pace {
  std::int64_t since_ns;
  std::uint64_t since_ticks;
  double tick_ns;
};
constexpr std::int64_t kPaceNs = 1'000'000'000;
TANDEM_THREAD_LOCAL Pace own_pace = {0, 0, 0.5};

double tick_ns(std::int64_t time) noexcept {
  Pace &pace = own_pace;
  const std::uint64_t present = ticks();
  const std::int64_t elapsed = time - pace.since_ns;
  if (pace.since_ns != 0 && elapsed > kToldNs && present > pace.since_ticks)
    pace.tick_ns = static_cast<double>(elapsed) / static_cast<double>(present - pace.since_ticks);
  if (pace.since_ns == 0 || elapsed > kPaceNs) {
    pace.since_ns = time;
    pace.since_ticks = present;
  }
  return pace.tick_ns;
}

std::int64_t now() noexcept {
  timespec time{};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::uint32_t phase(std::uint32_t part) noexcept {
  return __atomic_load_n(&_TANDEM_phase[part], __ATOMIC_ACQUIRE);
}

std::atomic<std::uint32_t> &word_of(std::uint32_t part) noexcept {
  return reinterpret_cast<std::atomic<std::uint32_t> &>(_TANDEM_phase[part]);
}

void set_state(std::uint64_t state) noexcept {
  __atomic_store_n(&_TANDEM_phase_mark.state, state, __ATOMIC_RELEASE);
}

void settle(std::uint32_t part, std::uint32_t next) noexcept {
  parts[part].settled = next;
  if (next == TANDEM_PHASE_LOCKS)
    _TANDEM_colours_shared.lock_phases.fetch_add(1, std::memory_order_relaxed);
  // Release: what sections of the phase before did is seen by those that load it.
  __atomic_store_n(&_TANDEM_phase[part], next, __ATOMIC_RELEASE);
  sync::wake_all(word_of(part));
}

void lock_members() noexcept {
  if (const int error = pthread_mutex_lock(&members); error != 0)
    fatal("the list of threads cannot be locked: %s", std::strerror(error));
}
void unlock_members() noexcept { pthread_mutex_unlock(&members); }

std::uint64_t all_entered(std::uint32_t part) noexcept {
  lock_members();
  std::uint64_t sum = departed[part];
  for (const Member *member = first_member; member != nullptr; member = member->next)
    sum += __atomic_load_n(&member->mark->entered[part], __ATOMIC_RELAXED);
  unlock_members();
  return sum;
}

[[gnu::cold]] void join() noexcept {
  if (const int error = pthread_setspecific(exit_key, &exit_key); error != 0)
    fatal("a thread cannot enter an atomic section: %s", std::strerror(error));
  own.mark = &_TANDEM_phase_mark;
  lock_members();
  own.next = first_member;
  first_member = &own;
  unlock_members();
  set_state(TANDEM_STATE_OUTSIDE);
}

void remove_own() noexcept {
  for (Member **place = &first_member; *place != nullptr; place = &(*place)->next)
    if (*place == &own) {
      *place = own.next;
      return;
    }
}

void on_thread_exit(void *) {
  if (_TANDEM_phase_mark.state != TANDEM_STATE_OUTSIDE)
    fatal("a thread exits inside an atomic section, which would stay locked for ever");
  lock_members();
  remove_own();
  for (std::uint32_t part = 0; part < TANDEM_PARTS; ++part)
    departed[part] += _TANDEM_phase_mark.entered[part];
  unlock_members();
  // Destructors of other keys may still enter sections; then it joins again.
  _TANDEM_phase_mark = {};
  std::memset(own_look, 0, sizeof own_look);
}

// Whether every other thread was outside of the part for a moment since its phase changes; false:
// not within kGiveUpNs. Acquire: what their sections did is seen.
bool all_outside(std::uint32_t part) noexcept {
  const auto inside = [&](const tandem_phase_mark &mark) {
    return __atomic_load_n(&mark.state, __ATOMIC_ACQUIRE) >= TANDEM_STATE_LOCKS &&
           __atomic_load_n(&mark.part, __ATOMIC_ACQUIRE) == part;
  };
  lock_members();
  const std::int64_t end = now() + kGiveUpNs;
  bool outside = true;
  for (const Member *member = first_member; member != nullptr && outside; member = member->next)
    while (outside && member != &own && inside(*member->mark)) {
      ::sched_yield();
      outside = now() < end;
    }
  unlock_members();
  return outside;
}

// 0: not known.
std::int64_t processor_ns() noexcept {
  timespec time{};
  return ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time) == 0
             ? std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec
             : 0;
}

Progress progress_at(std::uint32_t part, std::int64_t time) noexcept {
  return {time, all_entered(part),
          _TANDEM_colours_shared.comparisons.load(std::memory_order_relaxed),
          parts[part].converted.load(std::memory_order_relaxed) ? processor_ns() : 0};
}

// Ends phase `asked` (one of those "to" another) of a part, where no one else does. The caller is
// outside.
[[gnu::noinline, gnu::cold]] void change(std::uint32_t part, std::uint32_t asked) noexcept {
  if (!__atomic_compare_exchange_n(&_TANDEM_phase[part], &asked, TANDEM_PHASE_CHANGING, false,
                                   __ATOMIC_SEQ_CST, __ATOMIC_RELAXED))
    return;
  if (!barrier::everywhere()) {
    const timespec visible = {0, barrier::kLookAgainNs};
    const int saved = errno; // the program's
    ::nanosleep(&visible, nullptr);
    errno = saved;
  }
  const bool done = all_outside(part);
  const std::uint32_t next = done == (asked == TANDEM_PHASE_TO_TRANSACTIONS)
                                 ? TANDEM_PHASE_TRANSACTIONS
                                 : TANDEM_PHASE_LOCKS;
  const Progress progress = progress_at(part, now());
  Part &changed = parts[part];
  while (changed.judging.exchange(true, std::memory_order_acquire))
    sync::pause();
  changed.share.end_phase(progress, asked == TANDEM_PHASE_TO_LOCKS);
  changed.trial.begin_phase(progress, next == TANDEM_PHASE_LOCKS, done);
  changed.due.store(changed.trial.due(), std::memory_order_relaxed);
  changed.waited.store(0, std::memory_order_relaxed);
  changed.judging.store(false, std::memory_order_release);
  settle(part, next);
}

void follow(std::uint32_t part, Advice advice) noexcept {
  parts[part].due.store(parts[part].trial.due(), std::memory_order_relaxed);
  if (advice != Advice::stay)
    request(advice == Advice::transactions ? TANDEM_PHASE_TRANSACTIONS : TANDEM_PHASE_LOCKS, part);
}

// A lock was waited for: whether so much that transactions are worth a trial.
void judge_locks(std::uint32_t number, std::int64_t time) noexcept {
  Part &part = parts[number];
  if (part.judging.exchange(true, std::memory_order_acquire))
    return;
  // Another thread may have judged meanwhile.
  if (time >= part.trial.due())
    if (const Progress progress = progress_at(number, time); part.trial.ends_window(progress))
      follow(number,
             part.trial.judge_locks(progress, part.waited.exchange(0, std::memory_order_relaxed)));
  part.judging.store(false, std::memory_order_release);
}

void judge_transactions(std::uint32_t number, std::int64_t time) noexcept {
  Part &part = parts[number];
  if (part.judging.exchange(true, std::memory_order_acquire))
    return;
  // It has been outside since it looked at the phase.
  if (time >= part.trial.due() && phase(number) == TANDEM_PHASE_TRANSACTIONS)
    follow(number, part.trial.judge_transactions(progress_at(number, time)));
  part.judging.store(false, std::memory_order_release);
}

[[gnu::noinline]] void look(std::uint32_t part, std::uint64_t entered) noexcept {
  const std::int64_t time = now();
  Look &last = own_look[part];
  if (last.each == 0)
    last.each = kLookEach;
  const std::int64_t since = time - last.time;
  if (since > kLookNs)
    last.each = last.each > 4 ? last.each / 4 : 1;
  else if (since < kLookNs / 4 && last.each < kLookEach)
    last.each *= 2;
  last.time = time;
  last.next = entered + last.each;
  if (time >= parts[part].due.load(std::memory_order_relaxed))
    judge_transactions(part, time);
}

// What this thread has waited, to what all share; and judges where it is time.
void tell(std::uint32_t part, std::int64_t time) noexcept {
  Untold &untold = own_untold[part];
  untold.ns += static_cast<std::int64_t>(static_cast<double>(untold.ticks) * tick_ns(time));
  parts[part].waited.fetch_add(untold.ns, std::memory_order_relaxed);
  untold = {};
  // Not beside a change, which may wait for this thread to leave.
  if (time >= parts[part].due.load(std::memory_order_relaxed) && phase(part) == TANDEM_PHASE_LOCKS)
    judge_locks(part, time);
}

// Enters an outermost section of `part` in `wanted`; false: the phase has changed.
bool enter_in(std::uint32_t part, std::uint32_t wanted, std::uint64_t state) noexcept {
  tandem_phase_mark &mark = _TANDEM_phase_mark;
  __atomic_store_n(&mark.part, part,
                   __ATOMIC_RELEASE); // as inline.c, and only the compiler kept from reordering
  __atomic_store_n(&mark.state, state, __ATOMIC_RELEASE);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  if (phase(part) == wanted) {
    __atomic_store_n(&mark.entered[part], mark.entered[part] + 1, __ATOMIC_RELAXED);
    return true;
  }
  set_state(TANDEM_STATE_OUTSIDE);
  return false;
}

// The part of the section that the thread is in.
std::uint32_t own_part() noexcept { return _TANDEM_phase_mark.part; }

// --- TANDEM_PHASES

const char *share_path = nullptr;

void write_share() noexcept {
  std::uint64_t entered = 0;
  std::uint64_t transactions = 0;
  for (std::uint32_t number = 0; number < TANDEM_PARTS; ++number) {
    Part &part = parts[number];
    while (part.judging.exchange(true, std::memory_order_acquire))
      sync::pause();
    part.share.end_phase(progress_at(number, now()), part.settled == TANDEM_PHASE_TRANSACTIONS);
    entered += part.share.entered();
    transactions += part.share.transactions();
    part.judging.store(false, std::memory_order_release);
  }
  append_share(share_path, entered, transactions);
}

void prepare_share() noexcept {
  share_path = variable("TANDEM_PHASES");
  if (share_path == nullptr || *share_path == '\0')
    return;
  const char *after = variable("TANDEM_PHASES_AFTER");
  char *end = nullptr;
  const double seconds = after == nullptr ? 0 : std::strtod(after, &end);
  if (after != nullptr && (end == after || *end != '\0' || !(seconds >= 0 && seconds <= 1e6)))
    refuse("TANDEM_PHASES_AFTER: '%s' is no number of seconds from 0 to 1000000", after);
  if (!can_append(share_path))
    refuse("TANDEM_PHASES: %s: %s; name a file that can be written", share_path,
           std::strerror(errno));
  for (Part &part : parts) {
    part.share.counts_from(now() + static_cast<std::int64_t>(seconds * 1e9));
    part.share.begin({now(), 0, 0});
  }
  std::atexit(write_share);
}

bool names_another_than_auto(const char *variable) noexcept {
  const char *value = tandem::variable(variable);
  return value != nullptr && *value != '\0' && std::strcmp(value, "auto") != 0;
}

void before_fork() { lock_members(); }
void after_fork() { unlock_members(); }
void after_fork_in_child() {
  unlock_members();
  first_member = own.mark == nullptr ? nullptr : &own;
  own.next = nullptr;
  // What other threads had done is not counted here, and one of them may have been judging.
  for (std::uint32_t number = 0; number < TANDEM_PARTS; ++number) {
    Part &part = parts[number];
    _TANDEM_phase[number] = part.settled;
    const Progress progress = progress_at(number, now());
    part.trial = {};
    part.trial.begin_phase(progress, part.settled == TANDEM_PHASE_LOCKS, true);
    part.share.begin(progress);
    part.due.store(part.trial.due(), std::memory_order_relaxed);
    part.waited.store(0, std::memory_order_relaxed);
    part.judging.store(false, std::memory_order_relaxed);
  }
}

[[gnu::constructor(201)]] void prepare() {
  int error = pthread_key_create(&exit_key, on_thread_exit);
  if (error == 0)
    error = pthread_atfork(before_fork, after_fork, after_fork_in_child);
  if (error != 0)
    fatal("the runtime cannot start: %s", std::strerror(error));
  barrier::prepare();
  if (!any_variable())
    return;
  prepare_share();
  const char *chosen = variable("TANDEM_HYBRID");
  if (chosen == nullptr || *chosen == '\0' || std::strcmp(chosen, "auto") == 0) {
    asked_for_transactions = names_another_than_auto("TANDEM_ALGORITHM") ||
                             names_another_than_auto("ITM_DEFAULT_METHOD") ||
                             names_another_than_auto("TANDEM_PROFILE");
    return;
  }
  adaptive = false;
  if (std::strcmp(chosen, "transactions") == 0)
    for (std::uint32_t part = 0; part < TANDEM_PARTS; ++part)
      _TANDEM_phase[part] = parts[part].settled = TANDEM_PHASE_TRANSACTIONS;
  else if (std::strcmp(chosen, "locks") != 0)
    refuse("TANDEM_HYBRID: '%s' is not auto, locks or transactions", chosen);
}

} // namespace

void set_adapting(bool adapting) noexcept {
  adaptive = adapting;
  for (Part &part : parts) {
    part.trial = {};
    part.due = 0;
  }
}

void request(std::uint32_t wanted, std::uint32_t part) noexcept {
  const bool transactions = wanted == TANDEM_PHASE_TRANSACTIONS;
  std::uint32_t from = transactions ? TANDEM_PHASE_LOCKS : TANDEM_PHASE_TRANSACTIONS;
  const std::uint32_t to = transactions ? TANDEM_PHASE_TO_TRANSACTIONS : TANDEM_PHASE_TO_LOCKS;
  __atomic_compare_exchange_n(&_TANDEM_phase[part], &from, to, false, __ATOMIC_RELAXED,
                              __ATOMIC_RELAXED);
}

// 0: nothing is measured now.
std::int64_t begin_waiting() noexcept {
  return adaptive.load(std::memory_order_relaxed) && phase(own_part()) == TANDEM_PHASE_LOCKS ? now()
                                                                                             : 0;
}

std::int64_t keep_waiting(std::int64_t since) noexcept {
  if (since == 0)
    return 0;
  const std::int64_t time = now();
  const std::uint32_t part = own_part();
  // The thread holds what it has waited for, and others wait: it touches nothing that they do.
  own_untold[part].ns += time - since;
  if (own_untold[part].ns >= kToldNs || time >= parts[part].due.load(std::memory_order_relaxed))
    tell(part, time);
  return time;
}

void has_waited(std::uint64_t wait) noexcept {
  const std::uint32_t part = own_part();
  // A negative one: between two processors that count apart.
  if (!adaptive.load(std::memory_order_relaxed) || phase(part) != TANDEM_PHASE_LOCKS ||
      static_cast<std::int64_t>(wait) < 0)
    return;
  own_untold[part].ticks += wait;
  if (own_untold[part].ticks >= kToldTicks)
    tell(part, now());
}

} // namespace tandem::phases

using namespace tandem;
using namespace tandem::phases;

extern "C" {

TANDEM_EXPORT uint32_t _TANDEM_phase_enter(const tandem_section *section, uint32_t part) {
  tandem_phase_mark &mark = _TANDEM_phase_mark;
  if (mark.state == TANDEM_STATE_NEW)
    join();
  if (section->kind == TANDEM_KIND_LOCK_REGION)
    if (!parts[part].converted.load(std::memory_order_relaxed))
      parts[part].converted.store(true, std::memory_order_relaxed);
  for (;;) {
    switch (const std::uint32_t seen = phase(part)) {
    case TANDEM_PHASE_LOCKS:
      if (asked_for_transactions && section->kind != TANDEM_KIND_LOCK_REGION) {
        adaptive = false;
        request(TANDEM_PHASE_TRANSACTIONS, part);
        break;
      }
      if (enter_in(part, seen, TANDEM_STATE_LOCKS))
        return 1;
      break;
    case TANDEM_PHASE_TRANSACTIONS:
      if (mark.entered[part] >= own_look[part].next && adaptive.load(std::memory_order_relaxed))
        look(part, mark.entered[part]);
      if (enter_in(part, seen, TANDEM_STATE_TRANSACTIONS))
        return 0;
      break;
    case TANDEM_PHASE_CHANGING:
      sync::wait_on(word_of(part), seen);
      break;
    default:
      change(part, seen);
    }
  }
}

TANDEM_EXPORT void _TANDEM_phase_stray(const tandem_section *section) {
  fatal("the atomic section '%s' (%s:%u) is left by a thread that is in none", section->name,
        section->file, section->line);
}

TANDEM_EXPORT int _TANDEM_phase_wait(void *mutex) {
  auto *lock = static_cast<pthread_mutex_t *>(mutex);
  std::int64_t since = begin_waiting();
  if (since == 0)
    return pthread_mutex_lock(lock);
  for (;;) {
    // Others may acquire it again and again before this thread does.
    const std::int64_t until = since + kWindowNs;
    const timespec end = {until / 1'000'000'000, until % 1'000'000'000};
    const int error = pthread_mutex_clocklock(lock, CLOCK_MONOTONIC, &end);
    since = keep_waiting(since);
    // EINVAL, ENOTSUP: there is no such wait for a mutex of this kind (priority inheritance on a
    // kernel without FUTEX_LOCK_PI2), or the mutex is wrong, as the program must be told.
    if (error == EINVAL || error == ENOTSUP)
      return pthread_mutex_lock(lock);
    if (error != ETIMEDOUT)
      return error;
  }
}

} // extern "C"
