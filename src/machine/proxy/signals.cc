// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/proxy/signals.h"

#include <bit>
#include <csignal>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint64_t kDefault = 0;
constexpr std::uint64_t kIgnore = 1;
constexpr std::uint64_t kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);
// Signals whose default is to be ignored: also those that would stop the process, since nobody
// could continue it.
constexpr std::uint64_t kQuiet = signal_bit(SIGCHLD) | signal_bit(SIGURG) | signal_bit(SIGWINCH) |
                                 signal_bit(SIGCONT) | signal_bit(SIGSTOP) | signal_bit(SIGTSTP) |
                                 signal_bit(SIGTTIN) | signal_bit(SIGTTOU);

struct Info { // siginfo_t
  std::int32_t signal = 0;
  std::int32_t error = 0;
  std::int32_t code = 0;
  std::int32_t padding = 0;
  std::uint64_t a = 0; // si_addr, or si_pid and si_uid
  std::uint64_t b = 0; // si_value
  std::array<std::uint8_t, 96> rest{};
};
static_assert(sizeof(Info) == 128);

struct Context { // ucontext_t
  std::uint64_t flags = 0;
  std::uint64_t link = 0;
  std::uint64_t stack_address = 0;
  std::int32_t stack_flags = 0;
  std::int32_t padding1 = 0;
  std::uint64_t stack_size = 0;
  std::uint64_t mask = 0;
  std::array<std::uint8_t, 120> reserved{}; // a mask of 1,024 bits
  std::uint64_t padding2 = 0;               // the registers are aligned to 16
  std::uint64_t pc = 0;
  std::array<std::uint64_t, 31> x{};
  std::array<std::uint64_t, 32> f{}; // the first part of a union with 128-bit registers
  std::uint32_t fcsr = 0;
  std::array<std::uint8_t, 268> rest{};
};
static_assert(sizeof(Context) == 176 + 256 + 528);

struct Frame {
  Info info;
  Context context;
};

constexpr std::int32_t kOnStack = 1; // SS_ONSTACK, SS_DISABLE
constexpr std::int32_t kStackDisabled = 2;

bool on_stack(const Thread &thread, std::uint64_t sp) {
  const SignalStack &stack = thread.signal_stack;
  return !stack.disabled && sp - stack.address < stack.size;
}

enum Register : std::uint8_t { ra = 1, sp = 2, a0 = 10, a1 = 11, a2 = 12 };

} // namespace

bool Signals::ignored(int signal) const {
  const std::uint64_t handler = actions_[static_cast<std::size_t>(signal - 1)].handler;
  return handler == kIgnore || (handler == kDefault && (kQuiet & signal_bit(signal)) != 0);
}

void Signals::send_thread(Thread &thread, const SignalInfo &info) {
  // One that is ignored and not blocked is gone at once.
  if (ignored(info.signal) && (thread.signal_mask & signal_bit(info.signal)) == 0)
    return;
  thread.pending |= signal_bit(info.signal);
  infos_.emplace(std::pair(thread.id, info.signal), info);
}

void Signals::send_process(const SignalInfo &info) {
  // The first thread that takes it; the thread group keeps it if all block it.
  for (auto &[id, thread] : *threads_) {
    if ((thread->signal_mask & signal_bit(info.signal)) == 0) {
      send_thread(*thread, info);
      return;
    }
  }
  process_pending_ |= signal_bit(info.signal);
  infos_.emplace(std::pair(0, info.signal), info);
}

bool Signals::due(const Thread &thread) const {
  std::uint64_t set = pending(thread) & (~thread.signal_mask | kUnblockable);
  for (; set != 0; set &= set - 1)
    if (!ignored(std::countr_zero(set) + 1))
      return true;
  return false;
}

std::optional<SignalInfo> Signals::take(Thread &thread, std::uint64_t set) {
  const std::uint64_t found = pending(thread) & set;
  if (found == 0)
    return std::nullopt;
  const int signal = std::countr_zero(found) + 1;
  const bool own = (thread.pending & signal_bit(signal)) != 0;
  (own ? thread.pending : process_pending_) &= ~signal_bit(signal);
  const auto place = infos_.find({own ? thread.id : 0, signal});
  SignalInfo info{.signal = signal};
  if (place != infos_.end()) {
    info = place->second;
    infos_.erase(place);
  }
  return info;
}

std::optional<SignalInfo> Signals::next(Thread &thread) {
  while (std::optional<SignalInfo> info = take(thread, ~thread.signal_mask | kUnblockable)) {
    if (!ignored(info->signal))
      return info;
  }
  return std::nullopt;
}

bool Signals::restarts(const Thread &thread) {
  std::uint64_t set = pending(thread) & ~thread.signal_mask;
  for (; set != 0; set &= set - 1) {
    const int signal = std::countr_zero(set) + 1;
    if (!ignored(signal))
      return (action(signal).flags & SA_RESTART) != 0;
  }
  return true;
}

Signals::Delivered Signals::deliver(Thread &thread, SignalInfo &fatal) {
  const std::optional<SignalInfo> info = next(thread);
  if (!info) {
    if (thread.mask_to_restore) {
      thread.signal_mask = *thread.mask_to_restore;
      thread.mask_to_restore.reset();
    }
    return Delivered::nothing;
  }
  if (action(info->signal).handler == kDefault || !enter(thread, *info)) {
    fatal = *info;
    return Delivered::fatal;
  }
  return Delivered::handler;
}

Signals::Delivered Signals::force(Thread &thread, const SignalInfo &info, SignalInfo &fatal) {
  const bool blocked = (thread.signal_mask & signal_bit(info.signal)) != 0;
  const std::uint64_t handler = action(info.signal).handler;
  if (blocked || handler == kDefault || handler == kIgnore || !enter(thread, info)) {
    fatal = info;
    return Delivered::fatal;
  }
  return Delivered::handler;
}

// False: the frame cannot be written, which ends the process.
bool Signals::enter(Thread &thread, const SignalInfo &info) {
  SignalAction &what = action(info.signal);
  Frame frame;
  frame.info.signal = info.signal;
  frame.info.code = info.code;
  const bool fault = info.code > 0 && info.code < 0x80;
  frame.info.a = fault ? info.address : static_cast<std::uint32_t>(info.sender);
  frame.info.b = info.value;
  Context &context = frame.context;
  const bool there = on_stack(thread, thread.x[sp]);
  context.stack_address = thread.signal_stack.address;
  context.stack_size = thread.signal_stack.size;
  context.stack_flags = thread.signal_stack.disabled ? kStackDisabled : there ? kOnStack : 0;
  context.mask = thread.mask_to_restore.value_or(thread.signal_mask);
  thread.mask_to_restore.reset();
  context.pc = thread.pc;
  for (std::size_t index = 1; index < 32; ++index)
    context.x[index - 1] = thread.x[index];
  context.f = thread.f;
  context.fcsr = thread.fflags | std::uint32_t{thread.frm} << 5;
  std::uint64_t top = thread.x[sp];
  if ((what.flags & SA_ONSTACK) != 0 && !thread.signal_stack.disabled && !there)
    top = thread.signal_stack.address + thread.signal_stack.size;
  const std::uint64_t place = (top - sizeof(Frame)) & ~std::uint64_t{15};
  if (!space_->put(place, frame))
    return false;
  thread.pc = what.handler;
  thread.x[sp] = place;
  thread.x[ra] = trampoline_;
  thread.x[a0] = static_cast<std::uint64_t>(info.signal);
  thread.x[a1] = place + offsetof(Frame, info);
  thread.x[a2] = place + offsetof(Frame, context);
  thread.signal_mask |= what.mask;
  if ((what.flags & SA_NODEFER) == 0)
    thread.signal_mask |= signal_bit(info.signal);
  thread.signal_mask &= ~kUnblockable;
  if ((what.flags & SA_RESETHAND) != 0)
    what = {};
  return true;
}

bool Signals::leave(Thread &thread) {
  Frame frame;
  if (!space_->get(thread.x[sp], frame))
    return false;
  const Context &context = frame.context;
  thread.pc = context.pc & ~std::uint64_t{1};
  for (std::size_t index = 1; index < 32; ++index)
    thread.x[index] = context.x[index - 1];
  thread.f = context.f;
  thread.fflags = context.fcsr & 31;
  thread.frm = context.fcsr >> 5 & 7;
  thread.signal_mask = context.mask & ~kUnblockable;
  thread.signal_stack = {.address = context.stack_address,
                         .size = context.stack_size,
                         .disabled = (context.stack_flags & kStackDisabled) != 0};
  return true;
}

} // namespace tandem::machine::proxy
