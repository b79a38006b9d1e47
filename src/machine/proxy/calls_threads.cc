// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// System calls about threads, futexes, scheduling and the end of the process.
#include "machine/proxy/calls.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <linux/futex.h>
#include <sched.h>

namespace tandem::machine::proxy {
namespace {

constexpr std::uint32_t kAnyBit = FUTEX_BITSET_MATCH_ANY;

// The thread of a number; 0 is the caller.
Thread *thread_of(Call &call, std::uint64_t id) {
  return id == 0 ? &call.thread : call.kernel.threads().find(static_cast<int>(id));
}

std::int64_t futex_wait(Call &call, std::uint32_t bits, bool absolute, bool realtime) {
  std::uint32_t word = 0;
  if (call.a[0] % 4 != 0)
    return -EINVAL;
  if (!call.kernel.space().get(call.a[0], word))
    return -EFAULT;
  if (word != static_cast<std::uint32_t>(call.a[2]))
    return -EAGAIN;
  if (bits == 0)
    return -EINVAL;
  Cycle deadline = kNever;
  if (call.a[3] != 0) {
    const std::optional<std::uint64_t> time = read_time(call, call.a[3]);
    if (!time)
      return -EINVAL;
    const std::uint64_t epoch = realtime ? Kernel::kEpoch * 1'000'000'000ULL : 0;
    deadline = absolute ? *time - std::min(*time, epoch) : deadline_in(call, *time);
    if (deadline <= call.kernel.now())
      return -ETIMEDOUT;
  }
  call.kernel.futexes().wait(call.thread, call.a[0], bits, deadline);
  return kBlocked;
}

// FUTEX_WAKE_OP: changes a second word, wakes at the first, and at the second if it was so.
std::int64_t futex_wake_op(Call &call) {
  const auto code = static_cast<std::uint32_t>(call.a[5]);
  const std::uint32_t operation = code >> 28 & 7;
  std::uint32_t argument = code >> 12 & 0xFFF;
  const auto compared = static_cast<std::int32_t>(code << 20) >> 20;
  if ((code >> 28 & FUTEX_OP_OPARG_SHIFT) != 0)
    argument = 1U << (argument & 31);
  else
    argument = static_cast<std::uint32_t>(static_cast<std::int32_t>(argument << 20) >> 20);
  std::uint32_t old = 0;
  if (!call.kernel.space().get(call.a[4], old))
    return -EFAULT;
  std::uint32_t value = 0;
  switch (operation) {
  case FUTEX_OP_SET:
    value = argument;
    break;
  case FUTEX_OP_ADD:
    value = old + argument;
    break;
  case FUTEX_OP_OR:
    value = old | argument;
    break;
  case FUTEX_OP_ANDN:
    value = old & ~argument;
    break;
  case FUTEX_OP_XOR:
    value = old ^ argument;
    break;
  default:
    return -ENOSYS;
  }
  if (!call.kernel.space().put(call.a[4], value))
    return -EFAULT;
  const auto was = static_cast<std::int32_t>(old);
  bool holds = false;
  switch (code >> 24 & 15) {
  case FUTEX_OP_CMP_EQ:
    holds = was == compared;
    break;
  case FUTEX_OP_CMP_NE:
    holds = was != compared;
    break;
  case FUTEX_OP_CMP_LT:
    holds = was < compared;
    break;
  case FUTEX_OP_CMP_LE:
    holds = was <= compared;
    break;
  case FUTEX_OP_CMP_GT:
    holds = was > compared;
    break;
  case FUTEX_OP_CMP_GE:
    holds = was >= compared;
    break;
  default:
    return -ENOSYS;
  }
  std::uint64_t woken = call.kernel.futexes().wake(call.a[0], call.a[2], kAnyBit);
  if (holds)
    woken += call.kernel.futexes().wake(call.a[4], call.a[3], kAnyBit);
  return static_cast<std::int64_t>(woken);
}

std::int64_t futex_requeue(Call &call, bool compare) {
  if (compare) {
    std::uint32_t word = 0;
    if (!call.kernel.space().get(call.a[0], word))
      return -EFAULT;
    if (word != static_cast<std::uint32_t>(call.a[5]))
      return -EAGAIN;
  }
  const std::uint64_t woken = call.kernel.futexes().wake(call.a[0], call.a[2], kAnyBit);
  const std::uint64_t moved = call.kernel.futexes().requeue(call.a[0], call.a[4], call.a[3]);
  return static_cast<std::int64_t>(woken + moved);
}

} // namespace

std::int64_t call_futex(Call &call) {
  const std::uint64_t operation = call.a[1] & FUTEX_CMD_MASK;
  const bool realtime = (call.a[1] & FUTEX_CLOCK_REALTIME) != 0;
  switch (operation) {
  case FUTEX_WAIT:
    return futex_wait(call, kAnyBit, false, false);
  case FUTEX_WAIT_BITSET:
    return futex_wait(call, static_cast<std::uint32_t>(call.a[5]), true, realtime);
  case FUTEX_WAKE:
    return static_cast<std::int64_t>(
        call.kernel.futexes().wake(call.a[0], call.a[2] & 0xFFFF'FFFF, kAnyBit));
  case FUTEX_WAKE_BITSET:
    return static_cast<std::int64_t>(call.kernel.futexes().wake(
        call.a[0], call.a[2] & 0xFFFF'FFFF, static_cast<std::uint32_t>(call.a[5])));
  case FUTEX_REQUEUE:
    return futex_requeue(call, false);
  case FUTEX_CMP_REQUEUE:
    return futex_requeue(call, true);
  case FUTEX_WAKE_OP:
    return futex_wake_op(call);
  default: // those with priority inheritance
    return -ENOSYS;
  }
}

std::int64_t call_clone(Call &call) {
  const auto [flags, stack, parent_id, tls, child_id, unused] = call.a;
  constexpr std::uint64_t kThread =
      CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
  if ((flags & kThread) != kThread) {
    static constexpr const char *kText =
        "processes are not served (fork, vfork, posix_spawn): the program gets ENOSYS; run it with "
        "tandem machine boot";
    call.kernel.note(kText);
    return -ENOSYS;
  }
  Threads &threads = call.kernel.threads();
  threads.store_registers(call.thread);
  Thread child;
  child.x = call.thread.x;
  child.f = call.thread.f;
  child.fflags = call.thread.fflags;
  child.frm = call.thread.frm;
  child.pc = call.thread.pc + 4;
  child.affinity = call.thread.affinity;
  child.signal_mask = call.thread.signal_mask;
  child.hart = call.thread.hart;
  child.x[10] = 0;
  if (stack != 0)
    child.x[2] = stack;
  if ((flags & CLONE_SETTLS) != 0)
    child.x[4] = tls;
  if ((flags & CLONE_CHILD_CLEARTID) != 0)
    child.clear_at_exit = child_id;
  Thread *made = threads.add(child);
  if (made == nullptr)
    return -EAGAIN;
  ++call.kernel.started_threads;
  const std::int32_t id = made->id;
  if ((flags & CLONE_PARENT_SETTID) != 0 && !call.kernel.space().put(parent_id, id))
    return -EFAULT;
  if ((flags & CLONE_CHILD_SETTID) != 0 && !call.kernel.space().put(child_id, id))
    return -EFAULT;
  return id;
}

std::int64_t call_exit(Call &call) {
  call.kernel.exit_thread(call.thread, static_cast<int>(call.a[0] & 0xFF));
  return kAnswered;
}

std::int64_t call_exit_group(Call &call) {
  call.kernel.end_process({.kind = ProcessEnd::Kind::exit,
                           .status = static_cast<int>(call.a[0] & 0xFF),
                           .hart = call.thread.hart});
  return kAnswered;
}

std::int64_t call_set_tid_address(Call &call) {
  call.thread.clear_at_exit = call.a[0];
  return call.thread.id;
}

std::int64_t call_set_robust_list(Call &call) {
  if (call.a[1] != 24)
    return -EINVAL;
  call.thread.robust_list = call.a[0];
  return 0;
}

std::int64_t call_get_robust_list(Call &call) {
  const Thread *thread = thread_of(call, call.a[0]);
  if (thread == nullptr)
    return -ESRCH;
  constexpr std::uint64_t kSize = 24;
  return call.kernel.space().put(call.a[1], thread->robust_list) &&
                 call.kernel.space().put(call.a[2], kSize)
             ? 0
             : -EFAULT;
}

std::int64_t call_gettid(Call &call) { return call.thread.id; }
std::int64_t call_getpid(Call & /*call*/) { return Kernel::kProcess; }
std::int64_t call_getppid(Call & /*call*/) { return 1; }
std::int64_t call_getpgid(Call & /*call*/) { return Kernel::kProcess; }
std::int64_t call_getsid(Call & /*call*/) { return Kernel::kProcess; }
std::int64_t call_setpgid(Call & /*call*/) { return 0; }
std::int64_t call_setsid(Call & /*call*/) { return -EPERM; }

// There are no children.
std::int64_t call_wait4(Call & /*call*/) { return -ECHILD; }
std::int64_t call_waitid(Call & /*call*/) { return -ECHILD; }

// --- scheduling: one class, round robin --------------------------------------------------------

std::int64_t call_sched_yield(Call &call) {
  call.kernel.threads().store_registers(call.thread);
  call.thread.answer(0);
  call.kernel.threads().load_registers(call.thread);
  call.kernel.threads().yield(call.thread);
  return kAnswered;
}

std::int64_t call_sched_setaffinity(Call &call) {
  Thread *thread = thread_of(call, call.a[0]);
  if (thread == nullptr)
    return -ESRCH;
  std::uint64_t mask = 0;
  const std::uint64_t size = std::min<std::uint64_t>(call.a[1], sizeof mask);
  if (!call.kernel.space().read(call.a[2], std::as_writable_bytes(std::span(&mask, 1)).first(size)))
    return -EFAULT;
  const unsigned harts = call.kernel.harts().size();
  const std::uint64_t all = harts == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << harts) - 1;
  if ((mask & all) == 0)
    return -EINVAL;
  thread->affinity = mask & all;
  if (thread != &call.thread) {
    call.kernel.threads().apply_affinity(*thread);
    return 0;
  }
  call.kernel.threads().store_registers(*thread);
  thread->answer(0);
  call.kernel.threads().load_registers(*thread);
  call.kernel.threads().apply_affinity(*thread);
  return kAnswered;
}

std::int64_t call_sched_getaffinity(Call &call) {
  const Thread *thread = thread_of(call, call.a[0]);
  if (thread == nullptr)
    return -ESRCH;
  if (call.a[1] < 8 || call.a[1] % 8 != 0)
    return -EINVAL;
  const unsigned harts = call.kernel.harts().size();
  const std::uint64_t all = harts == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << harts) - 1;
  const std::uint64_t mask = thread->affinity & all;
  return call.kernel.space().put(call.a[2], mask) ? 8 : -EFAULT;
}

std::int64_t call_sched_getscheduler(Call & /*call*/) { return SCHED_OTHER; }
std::int64_t call_sched_setscheduler(Call &call) {
  return call.a[1] == SCHED_OTHER || call.a[1] == SCHED_BATCH || call.a[1] == SCHED_IDLE ? 0
                                                                                         : -EPERM;
}
std::int64_t call_sched_getparam(Call &call) {
  constexpr std::int32_t kPriority = 0;
  return call.kernel.space().put(call.a[1], kPriority) ? 0 : -EFAULT;
}
std::int64_t call_sched_setparam(Call & /*call*/) { return 0; }
std::int64_t call_sched_get_priority_max(Call &call) {
  return call.a[0] == SCHED_FIFO || call.a[0] == SCHED_RR ? 99 : 0;
}
std::int64_t call_sched_get_priority_min(Call &call) {
  return call.a[0] == SCHED_FIFO || call.a[0] == SCHED_RR ? 1 : 0;
}
std::int64_t call_setpriority(Call & /*call*/) { return 0; }
std::int64_t call_getpriority(Call & /*call*/) { return 20; } // nice 0

std::int64_t call_getcpu(Call &call) {
  const std::uint32_t hart = call.thread.hart;
  constexpr std::uint32_t kNode = 0;
  if ((call.a[0] != 0 && !call.kernel.space().put(call.a[0], hart)) ||
      (call.a[1] != 0 && !call.kernel.space().put(call.a[1], kNode)))
    return -EFAULT;
  return 0;
}

} // namespace tandem::machine::proxy
