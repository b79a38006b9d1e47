// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one lock of the enforcement global-lock. A thread holds it from the begin of its outermost
// section to that section's end; who counts the nested ones is the caller (abi/calls.cc).
//
// Invariant, per thread: outermost section != null <=> this thread holds the lock.
// Lock order: any lock of the program may be held while the lock is acquired, and the other way
// round; the compiler keeps the combination acyclic. The runtime itself acquires nothing while it
// holds it.
#pragma once

#include <tandem/abi.h>

namespace tandem::global_lock {

// Acquires the lock for `section`, which is the thread's outermost one. Blocks while another thread
// holds it. Ends the process where the descriptor is of another ABI version.
void acquire(const tandem_section &section) noexcept;

// Releases it. `section` is the one that it was acquired for; anything else ends the process.
void release(const tandem_section &section) noexcept;

} // namespace tandem::global_lock
