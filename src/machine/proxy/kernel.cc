// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/kernel.h"

#include "base/check.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <limits>
#include <utility>

namespace tandem::machine::proxy {
namespace {

// The page that holds the code which returns from signal handlers: at the end of the user's
// addresses, where nothing else is put.
constexpr std::uint64_t kTrampoline = AddressSpace::kEnd - 2 * kPageBytes;
// li a7, 139 (rt_sigreturn); ecall. Unwinders know these words.
constexpr std::array<std::uint32_t, 2> kReturn = {0x08B0'0893, 0x0000'0073};

constexpr std::uint64_t kIntercepted =
    bit(Exception::ecall_user) | bit(Exception::instruction_page) | bit(Exception::load_page) |
    bit(Exception::store_page) | bit(Exception::instruction_access) | bit(Exception::load_access) |
    bit(Exception::store_access) | bit(Exception::illegal_instruction) |
    bit(Exception::breakpoint) | bit(Exception::load_misaligned) |
    bit(Exception::store_misaligned) | bit(Exception::instruction_misaligned);

constexpr std::uint64_t kClockNanosleep = 115;

} // namespace

Kernel::Kernel(Memory &memory, Harts &harts, KernelOptions options,
               std::function<void(const std::string &)> note, std::function<void()> stop)
    : memory_(&memory), harts_(&harts), options_(std::move(options)), note_(std::move(note)),
      stop_(std::move(stop)), dma_(memory, harts), random_(options_.seed) {
  space_ =
      std::make_unique<AddressSpace>(memory, dma_, [this](std::uint64_t start, std::uint64_t size) {
        for (const auto &hart : *harts_)
          hart->sfence_vma({.start = start, .size = size, .asid = std::nullopt});
      });
  threads_ = std::make_unique<Threads>(harts, space_->satp());
  futexes_ = std::make_unique<Futexes>(*threads_);
  signals_ = std::make_unique<Signals>(*space_, *threads_, kTrampoline);
  tree_ = std::make_unique<Tree>(options_.writable, [this] { return realtime_ns(); });
  space_->map(kTrampoline, kPageBytes,
              {.protection = {.read = true, .write = true, .execute = true}, .name = "[vdso]"});
  CHECK(space_->put(kTrampoline, kReturn));
  CHECK(space_->protect(kTrampoline, kPageBytes, {.read = true, .execute = true}));
  provide_files();
  open_streams();
}

Cycle Kernel::next() const { return std::min(threads_->next(), alarm_at); }

void Kernel::run(Cycle now) {
  threads_->run(now, [this](Thread &thread) { expire(thread); });
  if (alarm_at > now)
    return;
  alarm_at = alarm_interval == 0 ? kNever : now + alarm_interval;
  send(nullptr, {.signal = SIGALRM, .code = 0x80});
}

std::uint64_t Kernel::intercepted() { return kIntercepted; }

HartEnvironment::Action Kernel::trap(Hart &hart, const Trap &trap) {
  Thread *thread = threads_->on(hart.id());
  CHECK(thread != nullptr, "hart {} runs without a thread", hart.id());
  const int id = thread->id;
  current_ = thread;
  switch (trap.cause) {
  case Exception::ecall_user:
    system_call(hart, *thread);
    break;
  case Exception::instruction_page:
  case Exception::load_page:
  case Exception::store_page:
    page_fault(hart, *thread, trap);
    break;
  case Exception::illegal_instruction:
    fault(hart, *thread, trap, SIGILL, ILL_ILLOPC);
    break;
  case Exception::breakpoint:
    fault(hart, *thread, trap, SIGTRAP, TRAP_BRKPT);
    break;
  case Exception::load_misaligned:
  case Exception::store_misaligned:
  case Exception::instruction_misaligned:
    fault(hart, *thread, trap, SIGBUS, BUS_ADRALN);
    break;
  default: // an address that is no memory
    fault(hart, *thread, trap, SIGSEGV, SEGV_ACCERR);
    break;
  }
  current_ = nullptr;
  if (std::exchange(changes_, false))
    threads_->wake_changes();
  thread = threads_->find(id); // it may be gone
  if (!end_ && thread != nullptr && thread->state != Thread::State::blocked &&
      (signals_->due(*thread) || thread->mask_to_restore))
    deliver(*thread);
  return Action::resume;
}

void Kernel::system_call(Hart &hart, Thread &thread) {
  ++calls_;
  const HartState &state = hart.state();
  Call call{.kernel = *this, .thread = thread, .a = {}};
  std::copy_n(state.x.begin() + 10, call.a.size(), call.a.begin());
  const std::uint64_t number = state.x[17];
  const SystemCall *found = find_system_call(number);
  std::int64_t answer = -ENOSYS;
  if (found != nullptr && found->serve != nullptr) {
    answer = found->serve(call);
  } else if ((found == nullptr || !found->quiet) && noted_.insert(number).second) {
    note(fmt::format("system call {}{} is not served, the program gets ENOSYS; if it needs it, run "
                     "it with tandem machine boot",
                     number, found == nullptr ? "" : fmt::format(" ({})", found->name)));
  }
  if (answer == kBlocked || answer == kAnswered || end_)
    return;
  hart.state().x[10] = static_cast<std::uint64_t>(answer);
  hart.state().pc += 4;
  thread.call_deadline.reset();
}

void Kernel::page_fault(Hart &hart, Thread &thread, const Trap &trap) {
  ++faults_;
  const Touch touch = trap.cause == Exception::load_page    ? Touch::read
                      : trap.cause == Exception::store_page ? Touch::write
                                                            : Touch::execute;
  const Fault found =
      trap.value < AddressSpace::kEnd ? space_->touch(trap.value, touch) : Fault::unmapped;
  switch (found) {
  case Fault::none:
    hart.sfence_vma({.start = trap.value & ~(kPageBytes - 1), .size = kPageBytes, .asid = {}});
    break;
  case Fault::unmapped:
    fault(hart, thread, trap, SIGSEGV, SEGV_MAPERR);
    break;
  case Fault::forbidden:
    fault(hart, thread, trap, SIGSEGV, SEGV_ACCERR);
    break;
  case Fault::beyond_file:
    fault(hart, thread, trap, SIGBUS, BUS_ADRERR);
    break;
  case Fault::no_memory:
    end_process({.kind = ProcessEnd::Kind::no_memory,
                 .hart = hart.id(),
                 .pc = hart.state().pc,
                 .trap = trap});
    break;
  }
}

// The program's own fault: a handler of its, or its end.
void Kernel::fault(Hart &hart, Thread &thread, const Trap &trap, int signal, int code) {
  threads_->store_registers(thread);
  SignalInfo fatal;
  const std::uint64_t address =
      signal == SIGILL || signal == SIGTRAP ? hart.state().pc : trap.value;
  if (signals_->force(thread, {.signal = signal, .code = code, .address = address}, fatal) ==
      Signals::Delivered::fatal) {
    end_process({.kind = ProcessEnd::Kind::signal,
                 .signal = signal,
                 .hart = hart.id(),
                 .pc = hart.state().pc,
                 .trap = trap});
    return;
  }
  threads_->load_registers(thread);
}

// Handlers of what is pending for a thread that does not wait.
void Kernel::deliver(Thread &thread) {
  threads_->store_registers(thread);
  SignalInfo fatal;
  while (true) {
    switch (signals_->deliver(thread, fatal)) {
    case Signals::Delivered::nothing:
      threads_->load_registers(thread);
      return;
    case Signals::Delivered::handler:
      break; // others may come on top of it
    case Signals::Delivered::fatal:
      end_process({.kind = ProcessEnd::Kind::signal,
                   .signal = fatal.signal,
                   .hart = thread.hart,
                   .pc = thread.pc});
      return;
    }
  }
}

void Kernel::send(Thread *thread, const SignalInfo &info) {
  if (thread != nullptr)
    signals_->send_thread(*thread, info);
  else
    signals_->send_process(info);
  threads_->wake_changes(); // some may wait for just this one
  for (const auto &[id, other] : *threads_) {
    if (other.get() == current_ || !signals_->due(*other))
      continue; // of the caller it is looked at when its call is done
    interrupt(*other);
    if (end_)
      return;
  }
}

// A thread for which a signal is due: ends what it waits for, and enters the handler.
void Kernel::interrupt(Thread &thread) {
  const bool blocked = thread.state == Thread::State::blocked;
  if (blocked) {
    if (thread.wait == WaitKind::futex)
      futexes_->forget(thread);
    if (thread.wait == WaitKind::sleep)
      write_remaining(thread);
    if (!thread.restartable || !signals_->restarts(thread))
      thread.answer(-EINTR);
  }
  deliver(thread);
  if (blocked && !end_)
    threads_->wake(thread);
}

// What is left of a sleep, where the program wants to know.
void Kernel::write_remaining(Thread &thread) {
  const bool clock = thread.x[17] == kClockNanosleep;
  const std::uint64_t place = clock ? thread.x[13] : thread.x[11];
  const bool absolute = clock && (thread.x[11] & 1) != 0;
  if (place == 0 || absolute)
    return;
  const Cycle left = thread.deadline - std::min(thread.deadline, now());
  const std::array<std::uint64_t, 2> time = {left / 1'000'000'000, left % 1'000'000'000};
  (void)space_->put(place, time); // an address that is none: Linux has nobody to tell either
}

// A deadline has come. What waits for a change looks again and sees it by itself.
void Kernel::expire(Thread &thread) {
  switch (thread.wait) {
  case WaitKind::futex:
    futexes_->forget(thread);
    thread.answer(-ETIMEDOUT);
    break;
  case WaitKind::sleep:
    thread.answer(0);
    break;
  case WaitKind::signal:
    thread.answer(-EAGAIN);
    break;
  case WaitKind::change:
  case WaitKind::none:
    break;
  }
}

std::int64_t Kernel::wait_for_change(Call &call, Cycle deadline, bool restartable) {
  threads_->block(call.thread, WaitKind::change, deadline, restartable);
  return kBlocked;
}

// Locks that the thread held and never released: their word gets FUTEX_OWNER_DIED.
void Kernel::clear_robust_list(Thread &thread) {
  constexpr std::uint32_t kOwner = 0x3FFF'FFFF;
  constexpr std::uint32_t kDied = 0x4000'0000;
  constexpr std::uint32_t kWaiters = 0x8000'0000;
  std::array<std::uint64_t, 3> head{}; // next, offset of the word, one that is being changed
  if (thread.robust_list == 0 || !space_->get(thread.robust_list, head))
    return;
  std::uint64_t entry = head[0];
  for (unsigned limit = 2048; limit > 0 && (entry & ~1ULL) != thread.robust_list; --limit) {
    const std::uint64_t place = (entry & ~1ULL) + head[1];
    std::uint32_t word = 0;
    std::uint64_t next = 0;
    if (!space_->get(entry & ~1ULL, next) || !space_->get(place, word))
      return;
    if ((word & kOwner) == static_cast<std::uint32_t>(thread.id)) {
      const std::uint32_t died = (word & kWaiters) | kDied;
      if (!space_->put(place, died))
        return;
      if ((word & kWaiters) != 0)
        futexes_->wake(place, 1, ~0U);
    }
    entry = next;
  }
}

void Kernel::exit_thread(Thread &thread, int status) {
  if (threads_->size() == 1) {
    end_process({.kind = ProcessEnd::Kind::exit, .status = status, .hart = thread.hart});
    return;
  }
  clear_robust_list(thread);
  if (thread.clear_at_exit != 0) {
    constexpr std::uint32_t kZero = 0;
    if (space_->put(thread.clear_at_exit, kZero))
      futexes_->wake(thread.clear_at_exit, 1, ~0U);
  }
  threads_->remove(thread);
}

void Kernel::end_process(const ProcessEnd &end) {
  if (end_)
    return;
  end_ = end;
  // What was written to shared mappings belongs to their files.
  for (const auto &[start, mapping] : space_->mappings())
    if (mapping.shared && mapping.file != nullptr)
      space_->synchronise(start, mapping.end - start);
  for (unsigned hart = 0; hart < harts_->size(); ++hart)
    if ((*harts_)[hart].state().activity == Activity::running)
      (*harts_)[hart].stop();
  stop_();
}

} // namespace tandem::machine::proxy
