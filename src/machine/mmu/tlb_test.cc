// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Fences of a TLB against a look at every entry, over random fills and fences.
#include "machine/mmu/tlb.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tandem::machine {
namespace {

struct Filled {
  std::uint64_t page;
  std::uint64_t slot;
  unsigned level;
};

std::uint64_t tag_of(const Filled &filled) {
  return filled.page << kPageShift | filled.slot << context::kSpaceShift;
}

bool holds(Tlb &tlb, const Filled &filled) {
  const std::uint64_t address = filled.page << kPageShift;
  const bool read = tlb.at(address).read_tag == tag_of(filled);
  EXPECT_EQ(tlb.stores(address, tag_of(filled)), read);
  return read;
}

void fill(Tlb &tlb, const Filled &filled) {
  const std::uint64_t address = filled.page << kPageShift;
  tlb.at(address) = {
      .read_tag = tag_of(filled), .write_tag = kNoTag, .addend = 0, .physical = filled.level};
  tlb.filled(address, tag_of(filled), filled.level);
}

// Pages near each other in a few regions, low and high.
Filled random_filled(std::mt19937_64 &random, bool large) {
  const std::uint64_t regions[] = {0, 0x40000, 0x3ffff00, 0xffffffd800000, 0xfffffffffe00};
  const unsigned level = large && random() % 4 == 0 ? 1 + random() % 2 : 0;
  return {.page = (regions[random() % 5] + random() % 1600) & ((std::uint64_t{1} << 52) - 1),
          .slot = random() % 3,
          .level = level};
}

void compare(std::uint64_t seed, bool large) {
  std::mt19937_64 random(seed);
  Tlb tlb;
  std::map<std::uint64_t, Filled> model; // by entry
  for (unsigned step = 0; step < 2000; ++step) {
    const Filled filled = random_filled(random, large);
    if (random() % 4 != 0) {
      fill(tlb, filled);
      model[filled.page % Tlb::kEntries] = filled;
      continue;
    }
    const std::uint64_t sizes[] = {
        1, 8, kPageBytes, 3 * kPageBytes, kSmallFence, kSmallFence + 1, std::uint64_t{1} << 24};
    const std::uint64_t start = (filled.page << kPageShift) + random() % kPageBytes;
    const std::uint64_t size = sizes[random() % 7];
    const std::uint64_t slots = random() % 8;
    tlb.flush(start, size, slots);
    std::erase_if(model, [&](const auto &entry) {
      const Filled &each = entry.second;
      return (slots >> each.slot & 1) != 0 &&
             fence_covers(start, size, each.page << kPageShift, each.level);
    });
    for (const auto &[index, each] : model)
      ASSERT_TRUE(holds(tlb, each)) << "seed " << seed << ", step " << step;
    for (std::uint64_t index = 0; index < Tlb::kEntries; ++index)
      ASSERT_EQ(tlb.at(index << kPageShift).read_tag != kNoTag, model.contains(index))
          << "seed " << seed << ", step " << step;
  }
}

TEST(Tlb, FencesDropWhatTheyNameAndNothingElse) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed)
    compare(seed, seed % 2 == 0);
}

TEST(Tlb, AFlushForgetsLargePages) {
  LargeRegions regions;
  EXPECT_FALSE(regions.near(0x8020'0000, 64));
  regions.note(0x8020'0000, 1);
  EXPECT_TRUE(regions.near(0x803f'ffff, 1));
  EXPECT_TRUE(regions.near(0x801f'ffff, 2));
  regions.clear();
  EXPECT_FALSE(regions.near(0x803f'ffff, 1));
  regions.note(0, 2);
  EXPECT_TRUE(regions.near(0x7000'0000, 1));
}

} // namespace
} // namespace tandem::machine
