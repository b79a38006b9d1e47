// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sets of elements against std::set, in random operations of one printed seed.
#include "compiler/points_to/element_set.h"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <random>
#include <set>

namespace tandem {
namespace {

using Model = std::set<std::uint32_t>;

Model contents(const ElementSet &set) { return {set.begin(), set.end()}; }

TEST(ElementSet, IsEmptyAtFirstAndWhenCleared) {
  ElementSet set;
  EXPECT_TRUE(set.empty());
  EXPECT_EQ(set.begin(), set.end());
  EXPECT_TRUE(set.insert(700));
  EXPECT_FALSE(set.insert(700));
  EXPECT_EQ(set.first(), 700U);
  set.clear();
  EXPECT_TRUE(set.empty());
  EXPECT_FALSE(set.test(700));
}

TEST(ElementSet, UnitingWithItselfChangesNothing) {
  ElementSet set;
  set.insert(3);
  set.insert(64);
  EXPECT_FALSE(set.unite(set));
  EXPECT_EQ(contents(set), (Model{3, 64}));
}

TEST(ElementSet, DoesWhatASetDoes) {
  constexpr unsigned kSeed = 7;
  SCOPED_TRACE(kSeed);
  std::mt19937 random(kSeed);
  constexpr std::size_t kSets = 6;
  std::array<ElementSet, kSets> sets;
  std::array<Model, kSets> models;
  for (int i = 0; i < 20000; ++i) {
    const std::size_t a = random() % kSets;
    const std::size_t b = random() % kSets;
    // Few words or many, with elements at the ends of words.
    const auto element = static_cast<std::uint32_t>(random() % (i % 2 == 0 ? 200 : 5000));
    Model expected;
    switch (random() % 16) {
    case 0:
      sets[a].clear();
      models[a].clear();
      break;
    case 1:
    case 2:
      expected = models[a];
      expected.insert(models[b].begin(), models[b].end());
      EXPECT_EQ(sets[a].unite(sets[b]), expected != models[a]);
      models[a] = expected;
      break;
    case 3:
      for (const std::uint32_t x : models[a])
        if (models[b].contains(x))
          expected.insert(x);
      EXPECT_EQ(sets[a].intersect(sets[b]), expected != models[a]);
      models[a] = expected;
      break;
    case 4:
      for (const std::uint32_t x : models[a])
        if (!models[b].contains(x))
          expected.insert(x);
      EXPECT_EQ(contents(sets[a].without(sets[b])), expected);
      EXPECT_EQ(sets[a].without(sets[b]).empty(), expected.empty());
      break;
    case 5:
    case 6:
      EXPECT_EQ(sets[a].erase(element), models[a].erase(element) == 1);
      break;
    default:
      EXPECT_EQ(sets[a].insert(element), models[a].insert(element).second);
      break;
    }
    ASSERT_EQ(contents(sets[a]), models[a]);
    EXPECT_EQ(sets[a].count(), models[a].size());
    EXPECT_EQ(sets[a].empty(), models[a].empty());
    EXPECT_EQ(sets[a].test(element), models[a].contains(element));
    EXPECT_EQ(sets[a] == sets[b], models[a] == models[b]);
    EXPECT_NE(sets[a] < sets[b], sets[a] >= sets[b]);
    if (!models[a].empty()) {
      EXPECT_EQ(sets[a].first(), *models[a].begin());
    }
  }
}

} // namespace
} // namespace tandem
