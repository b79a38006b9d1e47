// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A transaction that has restarted often closes the hourglass: none begins until it has committed,
// so those that run beside it become fewer. They go on, other than under the serial word: the owner
// restarts once for each of them at most, if they are not long.
//
// Only in a process that asks for it (TANDEM_HOURGLASS); begin looks at the word by way of
// settings.special. A thread that waits here has no mark, no orec and no colour. The owner opens it
// before it waits for anything but transactions that run, since those who wait here may hold the
// program's locks. One that is to be serial anyway may keep it.
//
// Source: Liu and Spear, Toxic transactions; the memcached paper, section on contention management.
#pragma once

#include "runtime/thread/thread.h"

namespace tandem::hourglass {

// Returns when it is open, or the thread's.
void pass(Thread &thread) noexcept;

// Closes it, if it is open.
void close(Thread &thread) noexcept;

// Opens it, if it is the thread's.
void open(const Thread &thread) noexcept;

// After fork, in the child: if it was another thread's.
void forget_other_threads() noexcept;

} // namespace tandem::hourglass
