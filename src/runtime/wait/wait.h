// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sleeping until a commit may have changed what a transaction has read. A sleeper publishes a Bloom
// filter of the stripes that it is interested in; a committing writer compares the filter of what
// it wrote.
//
// No sleeper is missed, and writers pay a load for it:
//
//     sleeper   interest, waiters + 1 (locked); are my reads current? sleep
//     writer    lock: odd clock, or held records (locked); data; unlock; waiters
//
// Both sides store by a locked instruction and then load what the other one stores. Either the
// writer sees the sleeper, or the sleeper sees the lock or what came after it, and its reads are
// not current.
//
// A sleeper's mark is 0: it delays nobody's quiescence, and reads no memory of the program.
#pragma once

#include "runtime/sync/clock.h"
#include "runtime/thread/thread.h"

#include <atomic>
#include <cstdint>

namespace tandem::wait {

inline constexpr std::uint64_t kEverything = ~std::uint64_t{0};

// The filter's bit of a stripe: a number of an ownership record, whatever the algorithm.
inline std::uint64_t bit_of(std::uint64_t stripe) noexcept {
  return std::uint64_t{1} << ((stripe * 0x9e3779b97f4a7c15U) >> 58);
}

// Whether a writer has to say what it wrote. After its data and its clock were stored.
inline bool anybody() noexcept {
  std::atomic_signal_fence(std::memory_order_seq_cst);
  return sync::global_clock.waiters.load(std::memory_order_relaxed) != 0;
}
// Wakes those who are interested.
void notify(std::uint64_t written) noexcept;

// A sleeper: announce; if its reads are still current and it has given up everything, sleep; then
// forget.
void announce(Thread &thread, std::uint64_t interest) noexcept;
// For `longest` nanoseconds at most, and perhaps less; 0: without end.
void sleep(Thread &thread, std::int64_t longest) noexcept;
void forget(Thread &thread) noexcept;

// After fork, in the child: nobody sleeps there.
void forget_other_threads() noexcept;

} // namespace tandem::wait
