// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timed/private_caches.h"

#include <gtest/gtest.h>
#include <map>
#include <random>
#include <set>

namespace tandem::machine {
namespace {

struct Line {
  enum class State : std::uint8_t { none, here } state{};
  std::uint64_t value = 0;
};
using Caches = PrivateCaches<Line>;
using Level = Caches::Level;

Configuration tiny(bool inclusive) {
  Configuration c;
  c.l1i = {1, 2, 1, Replacement::lru};
  c.l1d = {1, 2, 1, Replacement::lru};
  c.l2 = {4, 4, 2, Replacement::lru};
  c.l2_inclusive = inclusive;
  return c;
}

// Random admissions and removals beside a map from blocks to values. Whatever moves between the
// arrays, a block is found with its value, and only evictions lose any.
void against_a_map(bool inclusive) {
  Caches caches(tiny(inclusive));
  std::map<std::uint64_t, std::uint64_t> oracle;
  std::mt19937_64 random(inclusive ? 1 : 2);
  std::uint64_t next = 1;
  std::size_t evictions = 0;
  std::size_t moves = 0;
  for (int step = 0; step < 200'000; ++step) {
    const std::uint64_t block = random() % 160;
    Caches::Place place = caches.find(block);
    ASSERT_EQ(static_cast<bool>(place), oracle.count(block) == 1);
    if (place && random() % 8 == 0) {
      caches.remove(place);
      oracle.erase(block);
      ASSERT_FALSE(caches.find(block));
      continue;
    }
    if (!place || place.level == Level::l2) {
      std::uint64_t waits_for = ~std::uint64_t{0};
      const bool fetch = random() % 3 == 0;
      const bool known = static_cast<bool>(place);
      place = caches.admit(
          block, fetch, [&](std::uint64_t victim, const Line &) { return victim % 16 != 5; },
          [&](std::uint64_t victim) {
            EXPECT_EQ(oracle.erase(victim), 1u);
            EXPECT_NE(victim, block);
            EXPECT_NE(victim % 16, 5u);
            caches.remove(caches.find(victim));
            ++evictions;
            return true;
          },
          [&](std::uint64_t moved) {
            EXPECT_EQ(caches.find(moved).level, Level::l2);
            ++moves;
          },
          waits_for);
      if (!place) {
        ASSERT_EQ(static_cast<bool>(caches.find(block)), known);
        continue;
      }
      ASSERT_EQ(place.level, fetch ? Level::l1i : Level::l1d);
      if (!known)
        caches.line(place).value = oracle[block] = next++;
      caches.line(place).state = Line::State::here;
    }
    ASSERT_EQ(caches.line(place).value, oracle.at(block));
    if (random() % 4 == 0)
      caches.line(place).value = oracle.at(block) = next++;
  }
  EXPECT_GT(evictions, 1000u);
  EXPECT_GT(moves, 1000u);
  for (const auto &[block, value] : oracle)
    ASSERT_EQ(caches.line(caches.find(block)).value, value);
}

TEST(PrivateCaches, ExclusiveKeepsEveryLineUntilItIsEvicted) { against_a_map(false); }
TEST(PrivateCaches, InclusiveKeepsEveryLineUntilItIsEvicted) { against_a_map(true); }

// The whole capacity counts in an exclusive hierarchy; in an inclusive one that of the L2.
TEST(PrivateCaches, HoldWhatTheirCapacityAllows) {
  for (const bool inclusive : {false, true}) {
    Caches caches(tiny(inclusive));
    std::set<std::uint64_t> held;
    for (std::uint64_t block = 0; block < 200; ++block) {
      std::uint64_t waits_for = 0;
      const Caches::Place place = caches.admit(
          block, false, [](std::uint64_t, const Line &) { return true; },
          [&](std::uint64_t victim) {
            caches.remove(caches.find(victim));
            held.erase(victim);
            return true;
          },
          [](std::uint64_t) {}, waits_for);
      ASSERT_TRUE(place);
      caches.line(place).state = Line::State::here;
      held.insert(block);
    }
    EXPECT_EQ(held.size(), inclusive ? 64u : 64u + 16u);
  }
}

// Ways that transactions have reserved are never given up.
TEST(PrivateCaches, ReservedWaysStay) {
  Caches caches(tiny(false));
  const auto admit = [&](std::uint64_t block) {
    std::uint64_t waits_for = 0;
    return caches.admit(
        block, false, [](std::uint64_t, const Line &) { return true; },
        [&](std::uint64_t victim) {
          caches.remove(caches.find(victim));
          return true;
        },
        [](std::uint64_t) {}, waits_for);
  };
  EXPECT_TRUE(admit(0));
  EXPECT_TRUE(admit(8));
  EXPECT_FALSE(admit(16)) << "both ways of the set are reserved";
  caches.line(caches.find(0)).state = Line::State::here;
  EXPECT_TRUE(admit(16));
  EXPECT_EQ(caches.find(0).level, Level::l2);
}

} // namespace
} // namespace tandem::machine
