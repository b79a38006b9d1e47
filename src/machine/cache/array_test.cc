// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/cache/array.h"

#include <gtest/gtest.h>
#include <list>
#include <random>
#include <set>
#include <vector>

namespace tandem::machine {
namespace {

using Array = SetAssociativeArray<int>;

TEST(Array, IndexesSetsBehindTheSliceBits) {
  const Array sliced({.sets = 4, .ways = 1, .divisor = 16});
  EXPECT_EQ(sliced.set_of(0), sliced.set_of(15));
  EXPECT_EQ(sliced.set_of(16), 1u);
  EXPECT_EQ(sliced.set_of(16 * 4), 0u);
  const Array odd({.sets = 5, .ways = 1, .divisor = 3});
  EXPECT_EQ(odd.set_of(3 * 7 + 2), 2u);
}

// LRU against lists in the order of use.
TEST(Array, LruAgreesWithLists) {
  Array array({.sets = 4, .ways = 4});
  std::vector<std::list<std::uint64_t>> oracle(4);
  std::mt19937_64 random(1);
  for (int step = 0; step < 100'000; ++step) {
    const std::uint64_t block = random() % 40;
    auto &set = oracle[block % 4];
    const auto known = std::find(set.begin(), set.end(), block);
    const Array::Index line = array.find(block);
    ASSERT_EQ(line != Array::kNone, known != set.end());
    if (line != Array::kNone) {
      array.touch(line);
      set.erase(known);
    } else if (const Array::Index free = array.free_line(block); free != Array::kNone) {
      array.fill(free, block);
    } else {
      const Array::Index victim = array.victim(block);
      ASSERT_EQ(array.block(victim), set.back());
      set.pop_back();
      array.free(victim);
      array.fill(victim, block);
    }
    set.push_front(block);
  }
}

TEST(Array, WaysThatAreNotUsedGetNoLines) {
  Array array({.sets = 1, .ways = 4});
  array.use_ways(2);
  array.fill(array.free_line(1), 1);
  array.fill(array.free_line(2), 2);
  EXPECT_EQ(array.free_line(3), Array::kNone);
  EXPECT_EQ(array.block(array.victim(3)), 1u);
  array.use_ways(3);
  array.fill(array.free_line(3), 3);
  EXPECT_EQ(array.find(3), 2u);
}

TEST(Array, FifoIgnoresUses) {
  Array array({.sets = 1, .ways = 2, .replacement = Replacement::fifo});
  array.fill(array.free_line(1), 1);
  array.fill(array.free_line(2), 2);
  array.touch(array.find(1));
  EXPECT_EQ(array.block(array.victim(3)), 1u);
}

// What tree PLRU promises: never the line that was used last, and after using all others in turn,
// the remaining one.
TEST(Array, TreePlruNeverGivesUpTheLastUsed) {
  Array array({.sets = 1, .ways = 8, .replacement = Replacement::tree_plru});
  for (std::uint64_t block = 0; block < 8; ++block)
    array.fill(array.free_line(block), block);
  std::mt19937_64 random(2);
  for (int step = 0; step < 10'000; ++step) {
    const Array::Index used = array.find(random() % 8);
    array.touch(used);
    ASSERT_NE(array.victim(0), used);
  }
}

TEST(Array, PoliciesRespectWhatMayBeEvicted) {
  for (const Replacement policy :
       {Replacement::lru, Replacement::fifo, Replacement::tree_plru, Replacement::random}) {
    Array array({.sets = 2, .ways = 4, .replacement = policy});
    for (std::uint64_t block = 0; block < 8; ++block)
      array.fill(array.free_line(block), block);
    std::set<std::uint64_t> given;
    for (int step = 0; step < 64; ++step) {
      const Array::Index victim =
          array.victim(1, [&](Array::Index line) { return array.block(line) != 3; });
      ASSERT_NE(victim, Array::kNone);
      ASSERT_NE(array.block(victim), 3u);
      ASSERT_EQ(array.block(victim) % 2, 1u);
      given.insert(array.block(victim));
      array.touch(victim);
    }
    if (policy == Replacement::random)
      EXPECT_EQ(given.size(), 3u);
    EXPECT_EQ(array.victim(1, [](Array::Index) { return false; }), Array::kNone);
  }
}

} // namespace
} // namespace tandem::machine
