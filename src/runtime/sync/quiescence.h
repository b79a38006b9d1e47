// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Privatisation safety. A transaction that has committed at `time` may be followed by plain
// accesses, or by giving memory back, on the strength of what it committed or read. Before that,
// every transaction that does not know the commit must have ended or have looked at the clock
// again.
//
// Why the scan is enough: the caller's commit (a read-modify-write, or reading the result of one)
// comes before its loads of the marks, and a beginning transaction exchanges its mark before its
// first read. A mark that the scan finds 0 or newer belongs to a transaction whose later reads see
// the commit.
#pragma once

#include "runtime/sync/clock.h"
#include "runtime/thread/thread.h"

#include <atomic>
#include <cstdint>

namespace tandem::sync {

// The scan itself. The caller's own mark is 0 or at least `time`.
void quiesce_slowly(std::uint64_t time) noexcept;

// Returns when no transaction is left that began before `time` and has not seen it.
inline void quiesce(std::uint64_t time) noexcept {
  if (global_clock.quiesced.load(std::memory_order_acquire) < time)
    quiesce_slowly(time);
}

} // namespace tandem::sync
