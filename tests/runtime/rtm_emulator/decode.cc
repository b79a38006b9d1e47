// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The handlers: XBEGIN, XEND, XABORT and XTEST decoded, transactions begun, ended and undone.
#include "state.h"

#include <cstring>
#include <sys/prctl.h>

// NOLINTBEGIN(performance-no-int-to-ptr): addresses come from the kernel, as numbers

namespace tandem::rtm_emulator {
namespace {

void end_transaction() noexcept {
  Transaction &transaction = arena->transaction;
  open_memory();
  slot(transaction.slot).selector = SYSCALL_DISPATCH_FILTER_ALLOW;
  transaction.active.store(false, std::memory_order_release);
}

std::size_t vector_bytes(const ucontext_t &context) noexcept {
  // Source: Linux, arch/x86/include/uapi/asm/sigcontext.h, struct _fpx_sw_bytes.
  constexpr std::size_t kSoftware = 464;
  constexpr std::uint32_t kMagic = 0x46505853;
  std::uint32_t words[2];
  std::memcpy(words, reinterpret_cast<const char *>(context.uc_mcontext.fpregs) + kSoftware,
              sizeof words);
  return words[0] == kMagic ? words[1] : sizeof(*context.uc_mcontext.fpregs);
}

void undo(ucontext_t &context, std::uint32_t status) noexcept {
  Transaction &transaction = arena->transaction;
  restore_pages();
  end_transaction();
  std::memcpy(context.uc_mcontext.gregs, transaction.registers, sizeof(gregset_t));
  std::memcpy(context.uc_mcontext.fpregs, arena->vectors, transaction.vector_bytes);
  context.uc_mcontext.gregs[REG_RIP] = static_cast<greg_t>(transaction.fallback);
  context.uc_mcontext.gregs[REG_RAX] = static_cast<greg_t>(status);
  if ((status & kExplicit) != 0)
    ++counts.explicitly[(status >> 24) % kCodes];
  else if ((status & kCapacity) != 0)
    ++counts.capacity;
  else if ((status & kConflict) != 0)
    ++counts.conflicts;
  else
    ++counts.others;
}

// An abort that chance has decided on, and when.
void inject() noexcept {
  constexpr std::uint32_t kKinds[] = {kConflict | kMayRetry, kConflict | kMayRetry, kConflict,
                                      kCapacity, 0};
  Transaction &transaction = arena->transaction;
  transaction.faults_left = 0;
  if (!chance(aborts_per_cent))
    return;
  transaction.chosen = kKinds[random() % (sizeof kKinds / sizeof *kKinds)];
  transaction.faults_left = 1 + random() % 6;
}

void begin(ucontext_t &context, std::size_t own) noexcept {
  constexpr greg_t kLength = 6;
  Transaction &transaction = arena->transaction;
  greg_t &next = context.uc_mcontext.gregs[REG_RIP];
  std::int32_t relative;
  std::memcpy(&relative, reinterpret_cast<const void *>(next + 2), sizeof relative);
  if (transaction.active.load(std::memory_order_relaxed)) {
    ++transaction.nested;
    next += kLength;
    return;
  }
  if (chance(5))
    pass_on(own);
  wait_for_starting_and_dying(own);
  find_writable_memory();
  ++counts.begins;
  transaction.slot = own;
  transaction.nested = 0;
  transaction.ticks = 0;
  transaction.pages = 0;
  transaction.fallback = static_cast<std::uintptr_t>(next + kLength + relative);
  std::memcpy(transaction.registers, context.uc_mcontext.gregs, sizeof(gregset_t));
  transaction.vector_bytes = vector_bytes(context);
  if (transaction.vector_bytes > kVectorBytes)
    die("the vector registers are too large");
  std::memcpy(arena->vectors, context.uc_mcontext.fpregs, transaction.vector_bytes);
  inject();
  transaction.active.store(true, std::memory_order_release);
  slot(own).selector = SYSCALL_DISPATCH_FILTER_BLOCK;
  close_memory();
  next += kLength;
}

} // namespace

void on_illegal(int number, siginfo_t *, void *given) {
  auto &context = *static_cast<ucontext_t *>(given);
  greg_t &next = context.uc_mcontext.gregs[REG_RIP];
  std::uint8_t code[3];
  std::memcpy(code, reinterpret_cast<const void *>(next), sizeof code);
  const std::size_t own = own_slot();
  const bool inside = in_transaction(own);
  if (code[0] == 0xc7 && code[1] == 0xf8)
    return begin(context, own);
  if (code[0] == 0xc6 && code[1] == 0xf8) {
    if (inside)
      return undo(context, kExplicit | static_cast<std::uint32_t>(code[2]) << 24);
    next += 3;
    return;
  }
  if (code[0] != 0x0f || code[1] != 0x01)
    return restore_default(number);
  if (code[2] == 0xd6) {
    constexpr greg_t kZero = 1 << 6;
    greg_t &flags = context.uc_mcontext.gregs[REG_EFL];
    flags = inside ? flags & ~kZero : flags | kZero;
    next += 3;
    return;
  }
  if (code[2] != 0xd5)
    return restore_default(number);
  if (!inside)
    die("XEND outside of a transaction");
  next += 3;
  if (arena->transaction.nested != 0) {
    --arena->transaction.nested;
    return;
  }
  end_transaction();
  ++counts.commits;
  if (tick_pending || chance(5))
    pass_on(own);
}

void on_fault(int number, siginfo_t *info, void *given) {
  auto &context = *static_cast<ucontext_t *>(given);
  Transaction &transaction = arena->transaction;
  const std::size_t own = own_slot();
  const auto address = reinterpret_cast<std::uintptr_t>(info->si_addr);
  if (!in_transaction(own)) {
    // A thread that has just given the baton away: its write waits. All else is the program's
    // fault.
    if (slot(own).has_baton || ++slot(own).faults == kMostFaults)
      return restore_default(number);
    while (transaction.active.load(std::memory_order_acquire))
      nap();
    return;
  }
  constexpr greg_t kWrite = 2; // of the page fault's error code
  const Range *range = range_of(address);
  if (range == nullptr || (context.uc_mcontext.gregs[REG_ERR] & kWrite) == 0)
    return undo(context, 0);
  if (transaction.pages == most_pages)
    return undo(context, kCapacity);
  if (transaction.faults_left == 1)
    return undo(context, transaction.chosen);
  transaction.faults_left -= transaction.faults_left != 0 ? 1 : 0;
  copy_page(address, *range);
}

void on_system_call(int, siginfo_t *, void *given) {
  if (!in_transaction(own_slot()))
    die("a system call outside of a transaction was stopped");
  undo(*static_cast<ucontext_t *>(given), 0);
}

void on_tick(int, siginfo_t *, void *given) {
  const std::size_t own = own_slot();
  if (!in_transaction(own))
    return pass_on(own);
  tick_pending = true;
  if (++arena->transaction.ticks == kMostTicks)
    undo(*static_cast<ucontext_t *>(given), 0);
}

} // namespace tandem::rtm_emulator

// NOLINTEND(performance-no-int-to-ptr)
