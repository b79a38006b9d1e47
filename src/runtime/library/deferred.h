// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a transaction puts off until it has committed: wake-ups, output, the release of real locks.
// It is one of the transaction's commit actions, so its order among them is that of the calls. A
// transaction that becomes irrevocable does it then: nothing can undo it any more, and what the
// transaction does next (input, output that is not put off) must come after it.
#pragma once

#include "runtime/library/format.h"
#include "runtime/thread/thread.h"

#include <cstddef>

namespace tandem::library {

// Put-off work is known by its function: `work(argument)`, and no other user's.
using Work = void (*)(void *);

// Does work(argument) when the thread's transaction commits; now, where it cannot be undone.
void put_off(Thread &thread, Work work, void *argument) noexcept;

// Space for an argument that the end of the transaction frees.
void *put_off_memory(Thread &thread, std::size_t bytes) noexcept;

// Whether `work` was given to put_off: those below, and the locks'.
bool is_put_off(Work work) noexcept;

} // namespace tandem::library
