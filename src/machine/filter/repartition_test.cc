// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sub-tables given away and taken back while the filter is in use, a bucket at a time.
#include "machine/filter/analytic.h"
#include "machine/filter/d_left.h"
#include "machine/filter/partition.h"
#include "machine/filter/property.h"

#include <gtest/gtest.h>

#include <vector>

namespace tandem::machine::filter {
namespace {

using property::Members;
using property::Random;

std::vector<unsigned> in_state(const DLeft &filter, SubTable state) {
  std::vector<unsigned> found;
  for (unsigned i = 0; i < kMaxSubTables; ++i)
    if (filter.state(i) == state)
      found.push_back(i);
  return found;
}

// One random move of the partition, if there is one to make.
void move(DLeft &filter, Random &random) {
  const auto pick = [&](SubTable state, auto act) {
    const std::vector<unsigned> found = in_state(filter, state);
    if (!found.empty())
      act(found[random.below(found.size())]);
  };
  switch (random.below(8)) {
  case 0:
    return pick(SubTable::lent, [&](unsigned i) { filter.adopt(i); });
  case 1:
    return pick(SubTable::active, [&](unsigned i) { filter.begin_drain(i); });
  default:
    return pick(SubTable::draining, [&](unsigned i) { filter.drain_step(i); });
  }
}

TEST(repartition, keeps_every_member_at_every_step) {
  for (const std::uint64_t seed : property::seeds()) {
    SCOPED_TRACE(property::trace(seed));
    Random random(seed);
    Members members;
    DLeft filter({.sub_tables = 4,
                  .buckets = 8,
                  .cells = 4,
                  .remainder_bits = 4,
                  .counter_bits = 2,
                  .seed = seed});
    std::size_t drains = 0;
    for (int n = 0; n < 6000; ++n) {
      property::step(filter, members, random, 90, 1000);
      const std::size_t before = in_state(filter, SubTable::lent).size();
      move(filter, random);
      drains += in_state(filter, SubTable::lent).size() > before;
      ASSERT_TRUE(filter.consistent()) << "step " << n;
      ASSERT_TRUE(property::has_all(filter, members)) << "a false negative at step " << n;
    }
    EXPECT_GT(drains, 20U) << "the test is to finish drains";
    property::erase_all(filter, members, random);
    EXPECT_TRUE(filter.empty()) << "something leaked";
  }
}

TEST(repartition, a_drained_sub_table_is_empty_and_nothing_is_spilled_needlessly) {
  for (const std::uint64_t seed : property::seeds()) {
    SCOPED_TRACE(property::trace(seed));
    Random random(seed);
    Members members;
    DLeft filter({.sub_tables = 4, .buckets = 256, .seed = seed});
    for (int n = 0; n < 3000; ++n) {
      const std::uint64_t key = random();
      filter.insert(key);
      members.insert(key);
    }
    const std::size_t cells = filter.used_cells();
    for (unsigned i = 3; i >= 2; --i) { // 3000 of the 4096 cells that two sub-tables have
      filter.begin_drain(i);
      for (std::size_t bucket = 0; bucket < 255; ++bucket) {
        EXPECT_EQ(filter.drain_progress(i), bucket);
        ASSERT_FALSE(filter.drain_step(i));
      }
      EXPECT_TRUE(filter.drain_step(i));
      EXPECT_EQ(filter.state(i), SubTable::lent);
    }
    EXPECT_TRUE(property::has_all(filter, members));
    // Fingerprints, not keys, occupy cells: what does not spill keeps its one cell.
    EXPECT_LE(filter.used_cells() + filter.spilled(), members.size());
    EXPECT_LE(cells - filter.used_cells(), filter.spilled());
    EXPECT_LT(filter.spilled(), members.size() / 50);
    property::erase_all(filter, members, random);
    EXPECT_TRUE(filter.empty());
  }
}

TEST(repartition, without_sub_tables_everything_is_counted_beside) {
  DLeft filter({.sub_tables = 1, .buckets = 4});
  filter.insert(1);
  filter.insert(2);
  filter.begin_drain(0);
  while (!filter.drain_step(0)) {
  }
  EXPECT_EQ(filter.active(), 0U);
  EXPECT_EQ(filter.spilled(), 2U);
  EXPECT_TRUE(filter.insert(3).spilled);
  EXPECT_TRUE(filter.may_contain(1) && filter.may_contain(2) && filter.may_contain(3));
  filter.adopt(5);
  EXPECT_FALSE(filter.insert(4).spilled);
  for (const std::uint64_t key : {1U, 2U, 3U, 4U})
    filter.erase(key);
  EXPECT_TRUE(filter.empty());
}

TEST(repartition, an_adopted_sub_table_takes_load_off_the_others) {
  for (const std::uint64_t seed : property::seeds()) {
    SCOPED_TRACE(property::trace(seed));
    Random random(seed);
    DLeft narrow({.sub_tables = 2, .buckets = 64, .seed = seed});
    DLeft widened({.sub_tables = 2, .buckets = 64, .seed = seed});
    widened.adopt(2);
    widened.adopt(3);
    for (int n = 0; n < 1200; ++n) { // 1024 cells in two sub-tables, 2048 in four
      const std::uint64_t key = random();
      narrow.insert(key);
      widened.insert(key);
    }
    EXPECT_GT(narrow.spilled(), 150U);
    EXPECT_EQ(widened.spilled(), 0U);
    EXPECT_GT(narrow.spilled_groups(), widened.spilled_groups());
  }
}

TEST(repartition, only_what_is_lent_is_adopted) {
  DLeft filter({.sub_tables = 4, .buckets = 4});
  EXPECT_DEATH(filter.adopt(0), "sub-table 0");
  EXPECT_DEATH(filter.begin_drain(7), "sub-table 7");
  EXPECT_DEATH(filter.drain_step(0), "sub-table 0");
}

TEST(PartitionPolicy, FollowsWhatBroadcastsFind) {
  PartitionPolicy policy(320);
  const auto window = [&](unsigned found, unsigned in_vain) {
    Move move = Move::none;
    for (unsigned i = 0; i < 320; ++i) {
      const bool broadcast = i < found + in_vain;
      const Move now = policy.request(broadcast, i < found);
      EXPECT_TRUE(now == Move::none || i == 319);
      move = now;
    }
    return move;
  };
  EXPECT_EQ(window(10, 0), Move::none); // no more than 1/32
  EXPECT_EQ(window(11, 0), Move::to_directory);
  EXPECT_EQ(window(11, 0), Move::none); // the new way fills
  EXPECT_EQ(window(30, 15), Move::none);
  EXPECT_EQ(window(31, 15), Move::to_directory);
  EXPECT_EQ(window(0, 0), Move::none);
  EXPECT_EQ(window(15, 31), Move::to_filter);
  PartitionPolicy off;
  for (unsigned i = 0; i < 1000; ++i)
    EXPECT_EQ(off.request(true, true), Move::none);
}

} // namespace
} // namespace tandem::machine::filter
