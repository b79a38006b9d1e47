// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/algorithms/hardware.h"

#include <gtest/gtest.h>

namespace tandem::hardware {
namespace {

constexpr std::uint32_t by_us(Code code) {
  return kExplicit | static_cast<std::uint32_t>(code) << 24;
}
constexpr std::uint32_t kForeign = kExplicit | 0xffU << 24; // as lock elision aborts

TEST(Decide, CapacityIsNeverTriedAgain) {
  EXPECT_EQ(decide(kCapacity, 1), Next::software);
  EXPECT_EQ(decide(kCapacity | kMayRetry | kConflict, 1), Next::software);
}

TEST(Decide, ConflictsAreTriedAgainForAWhile) {
  for (const std::uint32_t status : {kConflict, kMayRetry, kConflict | kMayRetry}) {
    for (std::uint32_t attempts = 1; attempts < kMostAttempts; ++attempts)
      EXPECT_EQ(decide(status, attempts), Next::again);
    EXPECT_EQ(decide(status, kMostAttempts), Next::software);
  }
}

TEST(Decide, WhatHasNoReasonIsTriedOnceMore) {
  EXPECT_EQ(decide(0, 1), Next::again);
  EXPECT_EQ(decide(0, 2), Next::software);
}

TEST(Decide, WhoeverExcludesItIsWaitedFor) {
  for (const Code code : {Code::serial, Code::writing, Code::colour}) {
    EXPECT_EQ(decide(by_us(code), 1), Next::wait);
    EXPECT_EQ(decide(by_us(code), kMostAttempts), Next::software);
  }
}

TEST(Decide, TheRuntimesOtherReasons) {
  EXPECT_EQ(decide(by_us(Code::beside), 1), Next::again);
  EXPECT_EQ(decide(by_us(Code::leave), 1), Next::software);
  // Also in the last attempt: the program wants no other one.
  for (std::uint32_t attempts = 1; attempts <= kMostAttempts; ++attempts)
    EXPECT_EQ(decide(by_us(Code::cancel), attempts), Next::cancelled);
  EXPECT_EQ(decide(kForeign, 1), Next::software);
}

// Every way through the attempts ends.
TEST(Decide, NobodyTriesForEver) {
  for (std::uint32_t low = 0; low < 64; ++low)
    for (std::uint32_t code = 0; code < 256; ++code) {
      const Next last = decide(code << 24 | low, kMostAttempts);
      EXPECT_TRUE(last == Next::software || last == Next::cancelled);
    }
}

} // namespace
} // namespace tandem::hardware
