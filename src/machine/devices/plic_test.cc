// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/devices/plic.h"

#include <gtest/gtest.h>
#include <random>

namespace tandem::machine {
namespace {

class PlicTest : public ::testing::Test {
protected:
  void store(std::uint64_t offset, std::uint32_t value) {
    EXPECT_TRUE(plic.store(offset, 4, value));
  }
  std::uint64_t load(std::uint64_t offset) {
    std::uint64_t value = 0;
    EXPECT_TRUE(plic.load(offset, 4, value));
    return value;
  }
  void enable(unsigned context, std::uint64_t sources) {
    store(0x2000 + 0x80 * context, static_cast<std::uint32_t>(sources));
    store(0x2004 + 0x80 * context, static_cast<std::uint32_t>(sources >> 32));
  }
  std::uint64_t claim(unsigned context) { return load(0x20'0004 + 0x1000 * context); }
  void complete(unsigned context, std::uint32_t source) {
    store(0x20'0004 + 0x1000 * context, source);
  }
  void threshold(unsigned context, std::uint32_t value) {
    store(0x20'0000 + 0x1000 * context, value);
  }

  bool line[3] = {};
  Plic plic{3, [this](unsigned context, bool level) { line[context] = level; }};
};

TEST_F(PlicTest, HighestPriorityThenLowestNumber) {
  for (const unsigned source : {3U, 10U, 40U})
    store(4 * source, source == 40 ? 5 : 2);
  enable(1, ~0ULL);
  for (const unsigned source : {40U, 10U, 3U})
    plic.set_level(source, true);
  EXPECT_TRUE(line[1]);
  EXPECT_FALSE(line[0]);
  EXPECT_EQ(claim(1), 40U);
  EXPECT_EQ(claim(1), 3U);
  EXPECT_EQ(claim(1), 10U);
  EXPECT_EQ(claim(1), 0U);
  EXPECT_FALSE(line[1]);
}

TEST_F(PlicTest, ALevelAsksAgainAfterCompletionOnly) {
  store(4 * 7, 1);
  enable(0, 1 << 7);
  plic.set_level(7, true);
  EXPECT_EQ(claim(0), 7U);
  EXPECT_EQ(claim(0), 0U);
  complete(0, 7);
  EXPECT_TRUE(line[0]);
  EXPECT_EQ(claim(0), 7U);
  plic.set_level(7, false);
  complete(0, 7);
  EXPECT_FALSE(line[0]);
}

TEST_F(PlicTest, WhatWasForwardedStaysPending) {
  store(4 * 7, 1);
  plic.set_level(7, true);
  plic.set_level(7, false);
  EXPECT_EQ(load(0x1000), 1U << 7);
  enable(2, 1 << 7);
  EXPECT_TRUE(line[2]);
  EXPECT_EQ(claim(2), 7U);
  EXPECT_EQ(load(0x1000), 0U);
}

TEST_F(PlicTest, ThresholdMasksTheLineAndNotTheClaim) {
  store(4 * 7, 3);
  enable(0, 1 << 7);
  threshold(0, 3);
  plic.set_level(7, true);
  EXPECT_FALSE(line[0]);
  EXPECT_EQ(claim(0), 7U);
  complete(0, 7);
  threshold(0, 2);
  EXPECT_TRUE(line[0]);
}

TEST_F(PlicTest, PriorityZeroNeverInterrupts) {
  enable(0, ~0ULL);
  plic.set_level(9, true);
  EXPECT_FALSE(line[0]);
  EXPECT_EQ(claim(0), 0U);
}

TEST_F(PlicTest, SourceZeroIsNone) {
  store(0, 7);
  enable(0, 1);
  EXPECT_EQ(load(0), 0U);
  EXPECT_EQ(load(0x2000), 0U);
}

TEST_F(PlicTest, OfTwoContextsOneClaims) {
  store(4 * 7, 1);
  enable(0, 1 << 7);
  enable(1, 1 << 7);
  plic.set_level(7, true);
  EXPECT_TRUE(line[0] && line[1]);
  EXPECT_EQ(claim(1), 7U);
  EXPECT_FALSE(line[0] || line[1]);
  EXPECT_EQ(claim(0), 0U);
}

TEST_F(PlicTest, OnlyWordsAreAccessed) {
  std::uint64_t value = 0;
  EXPECT_FALSE(plic.load(0, 8, value));
  EXPECT_FALSE(plic.store(4, 1, 1));
}

TEST_F(PlicTest, RandomAccessesStayInside) {
  std::mt19937_64 random(1);
  for (unsigned i = 0; i < 100'000; ++i) {
    const std::uint64_t offset = random() % Plic::kSize & ~3ULL;
    std::uint64_t value = 0;
    plic.store(offset, 4, random());
    plic.load(offset, 4, value);
    plic.set_level(1 + static_cast<unsigned>(random() % 63), random() % 2 == 0);
  }
}

TEST_F(PlicTest, SavedAndRestored) {
  store(4 * 7, 3);
  enable(1, 1 << 7);
  plic.set_level(7, true);
  std::string bytes;
  Archive out = Archive::writer(bytes);
  out(plic);
  Plic other(3, [](unsigned, bool) {});
  Archive in = Archive::reader(bytes);
  in(other);
  EXPECT_FALSE(in.failed());
  std::uint64_t value = 0;
  EXPECT_TRUE(other.load(0x20'1004, 4, value));
  EXPECT_EQ(value, 7U);
  Plic fewer(2, [](unsigned, bool) {});
  Archive wrong = Archive::reader(bytes);
  wrong(fewer);
  EXPECT_TRUE(wrong.failed());
}

} // namespace
} // namespace tandem::machine
