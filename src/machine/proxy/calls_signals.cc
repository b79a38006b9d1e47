// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls about signals.
#include "machine/proxy/calls.h"

#include <cerrno>
#include <csignal>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint64_t kUnblockable = signal_bit(SIGKILL) | signal_bit(SIGSTOP);

bool is_signal(std::uint64_t number) { return number >= 1 && number <= kSignals; }

// Whether the process is meant: its number, its group, everybody.
bool is_process(std::uint64_t id) {
  const auto number = static_cast<std::int32_t>(id);
  return number == Kernel::kProcess || number == -Kernel::kProcess || number == 0 || number == -1;
}

std::int64_t send_to(Call &call, Thread *thread, std::uint64_t signal, int code) {
  if (signal > kSignals)
    return -EINVAL;
  if (signal != 0)
    call.kernel.send(
        thread, {.signal = static_cast<int>(signal), .code = code, .sender = Kernel::kProcess});
  return 0;
}

} // namespace

std::int64_t call_kill(Call &call) {
  return is_process(call.a[0]) ? send_to(call, nullptr, call.a[1], SI_USER) : -ESRCH;
}

std::int64_t call_tkill(Call &call) {
  Thread *thread = call.kernel.threads().find(static_cast<int>(call.a[0]));
  return thread == nullptr ? -ESRCH : send_to(call, thread, call.a[1], SI_TKILL);
}

std::int64_t call_tgkill(Call &call) {
  Thread *thread = call.kernel.threads().find(static_cast<int>(call.a[1]));
  if (thread == nullptr || !is_process(call.a[0]))
    return -ESRCH;
  return send_to(call, thread, call.a[2], SI_TKILL);
}

std::int64_t call_rt_sigqueueinfo(Call &call) {
  if (!is_process(call.a[0]))
    return -ESRCH;
  std::array<std::uint64_t, 4> info{}; // of siginfo: numbers, then pid and uid, then the value
  if (!is_signal(call.a[1]) || !call.kernel.space().get(call.a[2], info))
    return !is_signal(call.a[1]) ? -EINVAL : -EFAULT;
  call.kernel.send(nullptr, {.signal = static_cast<int>(call.a[1]),
                             .code = static_cast<std::int32_t>(info[1]),
                             .sender = Kernel::kProcess,
                             .value = info[3]});
  return 0;
}

std::int64_t call_rt_sigaction(Call &call) {
  const auto [number, fresh, old, size, unused1, unused2] = call.a;
  if (!is_signal(number) || size != 8)
    return -EINVAL;
  const int signal = static_cast<int>(number);
  const SignalAction before = call.kernel.signals().action(signal);
  if (fresh != 0) {
    if ((signal_bit(signal) & kUnblockable) != 0)
      return -EINVAL;
    SignalAction action;
    if (!call.kernel.space().get(fresh, action))
      return -EFAULT;
    call.kernel.signals().action(signal) = action;
  }
  return old == 0 || call.kernel.space().put(old, before) ? 0 : -EFAULT;
}

std::int64_t call_rt_sigprocmask(Call &call) {
  const auto [how, set, old, size, unused1, unused2] = call.a;
  if (size != 8)
    return -EINVAL;
  const std::uint64_t before = call.thread.signal_mask;
  if (set != 0) {
    std::uint64_t bits = 0;
    if (!call.kernel.space().get(set, bits))
      return -EFAULT;
    switch (how) {
    case SIG_BLOCK:
      call.thread.signal_mask |= bits;
      break;
    case SIG_UNBLOCK:
      call.thread.signal_mask &= ~bits;
      break;
    case SIG_SETMASK:
      call.thread.signal_mask = bits;
      break;
    default:
      return -EINVAL;
    }
    call.thread.signal_mask &= ~kUnblockable;
  }
  return old == 0 || call.kernel.space().put(old, before) ? 0 : -EFAULT;
}

std::int64_t call_rt_sigpending(Call &call) {
  const std::uint64_t set = call.kernel.signals().pending(call.thread) & call.thread.signal_mask;
  return call.kernel.space().put(call.a[0], set) ? 0 : -EFAULT;
}

std::int64_t call_rt_sigsuspend(Call &call) {
  std::uint64_t mask = 0;
  if (call.a[1] != 8)
    return -EINVAL;
  if (!call.kernel.space().get(call.a[0], mask))
    return -EFAULT;
  call.thread.mask_to_restore = call.thread.signal_mask;
  call.thread.signal_mask = mask & ~kUnblockable;
  if (call.kernel.signals().due(call.thread))
    return -EINTR;
  call.kernel.threads().block(call.thread, WaitKind::signal, kNever, false);
  return kBlocked;
}

std::int64_t call_rt_sigtimedwait(Call &call) {
  std::uint64_t set = 0;
  if (call.a[3] != 8)
    return -EINVAL;
  if (!call.kernel.space().get(call.a[0], set))
    return -EFAULT;
  if (const std::optional<SignalInfo> info = call.kernel.signals().take(call.thread, set)) {
    if (call.a[1] != 0) {
      std::array<std::uint64_t, 16> bytes{};
      bytes[0] = static_cast<std::uint32_t>(info->signal);
      bytes[1] = static_cast<std::uint32_t>(info->code);
      bytes[2] = static_cast<std::uint32_t>(info->sender);
      bytes[3] = info->value;
      if (!call.kernel.space().put(call.a[1], bytes))
        return -EFAULT;
    }
    return info->signal;
  }
  if (!call.thread.call_deadline) {
    call.thread.call_deadline = kNever;
    if (call.a[2] != 0) {
      const std::optional<std::uint64_t> time = read_time(call, call.a[2]);
      if (!time)
        return -EINVAL;
      call.thread.call_deadline = deadline_in(call, *time);
    }
  }
  if (*call.thread.call_deadline <= call.kernel.now())
    return -EAGAIN;
  // Signals of the set are blocked as a rule, so that they do not interrupt: each one that is sent
  // counts as a change.
  return call.kernel.wait_for_change(call, *call.thread.call_deadline, false);
}

std::int64_t call_rt_sigreturn(Call &call) {
  call.kernel.threads().store_registers(call.thread);
  if (!call.kernel.signals().leave(call.thread)) {
    call.kernel.send(&call.thread, {.signal = SIGSEGV, .code = 0x80});
    return -EFAULT;
  }
  call.kernel.threads().load_registers(call.thread);
  return kAnswered;
}

std::int64_t call_sigaltstack(Call &call) {
  struct Stack {
    std::uint64_t address;
    std::int32_t flags;
    std::int32_t padding;
    std::uint64_t size;
  };
  SignalStack &stack = call.thread.signal_stack;
  const std::uint64_t sp = [&] {
    call.kernel.threads().store_registers(call.thread);
    return call.thread.x[2];
  }();
  const bool inside = !stack.disabled && sp - stack.address < stack.size;
  const Stack before{.address = stack.address,
                     .flags = stack.disabled ? SS_DISABLE
                              : inside       ? SS_ONSTACK
                                             : 0,
                     .padding = 0,
                     .size = stack.size};
  if (call.a[0] != 0) {
    Stack fresh{};
    if (!call.kernel.space().get(call.a[0], fresh))
      return -EFAULT;
    if (inside)
      return -EPERM;
    if ((fresh.flags & ~SS_DISABLE) != 0)
      return -EINVAL;
    if (fresh.flags == 0 && fresh.size < 2048)
      return -ENOMEM;
    stack = {.address = fresh.address, .size = fresh.size, .disabled = fresh.flags != 0};
  }
  return call.a[1] == 0 || call.kernel.space().put(call.a[1], before) ? 0 : -EFAULT;
}

} // namespace tandem::machine::proxy
