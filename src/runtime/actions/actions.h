// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What happens around a transaction besides its accesses: the program's commit and undo functions,
// memory that it allocated and freed, exceptions that it threw and caught.
#pragma once

#include "runtime/thread/thread.h"

#include <cstddef>
#include <cstdint>

namespace tandem::actions {

// Something is to be done when the transaction has ended. For those in hardware, whose end looks no
// further than that; others do not look at it.
inline void announce(Thread &thread) noexcept {
  if (thread.hardware_slot >= kNoSlot)
    thread.hardware_slot = kBusySlot;
}

inline void add(Thread &thread, const UserAction &action) noexcept {
  announce(thread);
  thread.user_actions.push(action);
}
inline void add(Thread &thread, const AllocationAction &action) noexcept {
  announce(thread);
  thread.allocations.push(action);
}

inline bool pending(const Thread &thread) noexcept {
  return !thread.user_actions.empty() || !thread.allocations.empty();
}

// After a commit, outside the transaction: commit functions in the order in which they were
// registered, then frees. They may run transactions.
void commit(Thread &thread) noexcept;

// Undo functions, the last first, down to those positions; memory allocated since then is freed,
// frees are forgotten.
void roll_back(Thread &thread, std::size_t user_actions, std::size_t allocations) noexcept;

} // namespace tandem::actions

namespace tandem::exceptions {

// Finds libstdc++'s count of uncaught exceptions for this thread.
void prepare(Thread &thread) noexcept;

// Ends catch handlers that began since there were `caught`, and restores the number of uncaught
// exceptions.
void roll_back(Thread &thread, std::uint32_t caught, std::uint32_t uncaught) noexcept;

} // namespace tandem::exceptions
