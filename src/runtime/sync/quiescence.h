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

#include "runtime/processor.h"
#include "runtime/sync/clock.h"
#include "runtime/thread/thread.h"

#include <atomic>
#include <cstdint>

namespace tandem::sync {

// Returns when marks[identity] is 0 or at least `newest`.
[[gnu::cold, gnu::noinline, TANDEM_PRESERVE_MOST]] void wait_for(std::size_t identity,
                                                                 std::uint64_t newest) noexcept;

// Of a thread that has just published a new mark though its transaction goes on: wakes who sleeps
// in wait_for(). Where kSignalWake is on.
[[gnu::cold, gnu::noinline]] void wake_waiters(Thread &thread) noexcept;

// Returns when no transaction is left that began before `time` and has not seen it. The caller's
// own mark is 0 or at least `time`. For a short commit: it keeps its values in registers.
[[gnu::always_inline]] inline void quiesce_quickly(std::uint64_t time) noexcept {
  const std::uint64_t newest = encode_mark(time);
  const std::size_t end = marks_end.load(std::memory_order_acquire);
  for (std::size_t i = 0; i < end; ++i) {
    const std::uint64_t seen = marks[i].value.load(std::memory_order_acquire);
    if (seen != 0 && seen < newest) [[unlikely]]
      wait_for(i, newest);
  }
  // Two threads may store out of order: the smaller value is true as well.
  if (global_clock.quiesced.load(std::memory_order_relaxed) < time)
    global_clock.quiesced.store(time, std::memory_order_release);
}

void quiesce_slowly(std::uint64_t time) noexcept;

// The same, which others may have done already.
inline void quiesce(std::uint64_t time) noexcept {
  if (global_clock.quiesced.load(std::memory_order_acquire) < time)
    quiesce_slowly(time);
}

} // namespace tandem::sync
