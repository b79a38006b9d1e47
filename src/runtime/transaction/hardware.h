// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Transactions that the processor runs (algorithms/hardware.h): mode `hardware`. Their accesses are
// plain, and they keep no logs but of what is to be done after the commit: an abort restores all
// memory and registers to those of the begin, this library's with the program's.
//
// What only software does (a cancel of a nested transaction, an undo action, waiting for a change,
// becoming irrevocable) leaves the hardware: the transaction begins again as one of NOrec, and
// stays that until it has ended. System calls and what else the processor refuses do the same.
#pragma once

#include "runtime/algorithms/hardware.h"
#include "runtime/thread/thread.h"
#include "runtime/transaction/transaction.h"

namespace tandem::transaction {

// Begins the first attempt of an outermost transaction: in hardware, or if that fails by software.
// Guarded where the thread has guards.
[[gnu::noinline]] Actions begin_in_hardware(Thread &thread) noexcept;

// Ends the outermost transaction, which is in mode hardware. Does not return if it cannot commit.
[[gnu::noinline]] void commit_in_hardware(Thread &thread) noexcept;

// A nested transaction begins: flat.
Actions begin_nested_in_hardware(Thread &thread, std::uint32_t properties) noexcept;

// Cancels the innermost transaction, or all.
[[noreturn]] void cancel_in_hardware(const Thread &thread, bool outermost) noexcept;

// For whatever only software does. Does not return where the transaction is in hardware.
[[gnu::always_inline]] inline void leave_hardware(const Thread &thread) noexcept {
  if (thread.mode == Mode::hardware) [[unlikely]]
    hardware::abort<hardware::Code::leave>();
}

} // namespace tandem::transaction
