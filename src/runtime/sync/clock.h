// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The time that transactions are ordered by: one counter per process. For the algorithms with
// ownership records it counts commits; for NOrec it is a sequence lock, odd while a transaction
// writes back.
#pragma once

#include <atomic>
#include <cstdint>

namespace tandem::sync {

struct alignas(128) Clock { // two lines: processors fetch them in pairs
  std::atomic<std::uint64_t> now{0};
  // All transactions that began before commit `quiesced` have ended or have seen it. Never above
  // the truth, may be below it. In the line of `now`, which its readers have just read.
  std::atomic<std::uint64_t> quiesced{0};
  // Transactions that sleep until a commit changes what they have read (wait/wait.h).
  std::atomic<std::uint64_t> waiters{0};
};

inline constinit Clock global_clock;

} // namespace tandem::sync
