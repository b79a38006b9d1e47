// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/traffic/generator.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace tandem::machine {
namespace {

constexpr int kOperations = 30'000; // of a core

std::vector<Operation> stream(TrafficGenerator &traffic, unsigned core, int operations) {
  std::vector<Operation> made(static_cast<std::size_t>(operations));
  for (Operation &operation : made)
    EXPECT_TRUE(traffic.next(core, operation));
  return made;
}

bool same(const Operation &left, const Operation &right) {
  return left.block == right.block && left.kind == right.kind && left.gap == right.gap &&
         left.dependent == right.dependent;
}

// A core's stream does not depend on when the others ask.
TEST(Traffic, DependsOnProfileCoresAndSeedOnly) {
  for (const Profile &profile : profiles()) {
    TrafficGenerator one(profile, 4, 30, 9);
    TrafficGenerator two(profile, 4, 30, 9);
    const auto before = stream(one, 2, 2000);
    for (const unsigned core : {0U, 1U, 3U})
      stream(two, core, 777);
    const auto after = stream(two, 2, 2000);
    for (std::size_t i = 0; i < before.size(); ++i)
      ASSERT_TRUE(same(before[i], after[i])) << profile.name << ", operation " << i;
    TrafficGenerator other(profile, 4, 30, 10);
    const auto different = stream(other, 2, 2000);
    std::size_t equal = 0;
    for (std::size_t i = 0; i < before.size(); ++i)
      equal += same(before[i], different[i]) ? 1 : 0;
    EXPECT_LT(equal, before.size() / 2) << profile.name;
  }
}

// The blocks that each core touches, data only.
std::vector<std::set<std::uint64_t>> touched(const char *name, bool stores_only) {
  TrafficGenerator traffic(*find_profile(name), 4, 30, 3);
  std::vector<std::set<std::uint64_t>> blocks(4);
  for (unsigned core = 0; core < 4; ++core)
    for (const Operation &operation : stream(traffic, core, kOperations)) {
      EXPECT_LT(operation.block, std::uint64_t{1} << 26) << "4 GB";
      if (operation.kind == RequestKind::fetch ||
          (stores_only && access_of(operation.kind) == Access::load))
        continue;
      blocks[core].insert(operation.block);
    }
  return blocks;
}

std::size_t common(const std::set<std::uint64_t> &left, const std::set<std::uint64_t> &right) {
  std::size_t both = 0;
  for (const std::uint64_t block : left)
    both += right.count(block);
  return both;
}

TEST(Traffic, PrivateDataIsPrivate) {
  const auto blocks = touched("private", false);
  for (unsigned core = 1; core < 4; ++core) {
    EXPECT_GT(blocks[core].size(), 500u);
    EXPECT_EQ(common(blocks[0], blocks[core]), 0u);
  }
}

TEST(Traffic, ReadOnlyDataIsSharedAndNotWritten) {
  EXPECT_GT(common(touched("read-only", false)[0], touched("read-only", false)[1]), 200u);
  EXPECT_EQ(common(touched("read-only", true)[0], touched("read-only", true)[1]), 0u);
}

TEST(Traffic, MigratoryDataIsWrittenByAll) {
  const auto blocks = touched("migratory", true);
  EXPECT_GT(common(blocks[0], blocks[1]), 100u);
}

// A producer writes its own buffer only.
TEST(Traffic, BuffersHaveOneProducer) {
  const auto blocks = touched("producer-consumer", true);
  for (unsigned core = 1; core < 4; ++core)
    EXPECT_EQ(common(blocks[0], blocks[core]), 0u);
  const auto all = touched("producer-consumer", false);
  EXPECT_GT(common(all[0], all[1]), 10u);
}

// Each lock is taken by an atomic and released by a store to it, and none is taken inside.
TEST(Traffic, LocksAreReleased) {
  TrafficGenerator traffic(*find_profile("locks"), 2, 30, 3);
  std::uint64_t held = 0;
  int sections = 0;
  for (const Operation &operation : stream(traffic, 0, kOperations)) {
    if (operation.kind == RequestKind::atomic) {
      EXPECT_EQ(held, 0u);
      held = operation.block + 1;
      ++sections;
    } else if (operation.kind == RequestKind::store && operation.block + 1 == held) {
      held = 0;
    }
  }
  EXPECT_GT(sections, 100);
}

// One fetch for 16 instructions.
TEST(Traffic, InstructionsAreFetched) {
  TrafficGenerator traffic(*find_profile("oltp-like"), 2, 30, 3);
  double instructions = 0;
  double fetches = 0;
  for (const Operation &operation : stream(traffic, 0, kOperations)) {
    if (operation.kind == RequestKind::fetch)
      ++fetches;
    else
      instructions += operation.gap + 1;
  }
  EXPECT_NEAR(instructions / fetches, 16, 0.5);
}

// It writes one half of its buffers and reads the other, both from end to end; cores do the
// opposite.
TEST(Traffic, ADeviceWalksThroughItsBuffers) {
  TrafficGenerator traffic(*find_profile("device"), 2, 30, 3);
  std::set<std::uint64_t> written, read;
  std::uint64_t accesses = 0;
  DeviceOperation operation;
  for (std::uint64_t i = 1; i <= 10 * 4096; ++i)
    if (traffic.device(i, operation)) {
      ++accesses;
      (operation.access == Access::store ? written : read).insert(operation.block);
    }
  EXPECT_EQ(accesses, 4096U);
  EXPECT_EQ(written.size(), 2048U);
  EXPECT_EQ(read.size(), 2048U);
  EXPECT_EQ(common(written, read), 0U);
  std::size_t loads = 0, stores = 0;
  for (const Operation &each : stream(traffic, 0, kOperations)) {
    const bool load = each.kind == RequestKind::load;
    EXPECT_FALSE(load ? read.contains(each.block) : written.contains(each.block));
    loads += load ? written.count(each.block) : 0;
    stores += load ? 0 : read.count(each.block);
  }
  EXPECT_GT(loads, 100U);
  EXPECT_GT(stores, 100U);
}

TEST(Traffic, MostProfilesHaveNoDevice) {
  TrafficGenerator traffic(*find_profile("lu-like"), 2, 30, 3);
  DeviceOperation operation;
  for (std::uint64_t i = 1; i <= 1000; ++i)
    EXPECT_FALSE(traffic.device(i, operation));
}

// P(rank < r) = (r / blocks)^(1 / skew)
TEST(Traffic, SkewHeatsTheBeginningOfARegion) {
  Profile profile = *find_profile("private");
  profile.repeat_permille = 0;
  std::size_t distinct[2];
  for (const unsigned skew : {1U, 8U}) {
    profile.own = {1000, 4096, skew};
    TrafficGenerator traffic(profile, 1, 30, 3);
    std::map<std::uint64_t, int> counts;
    for (const Operation &operation : stream(traffic, 0, kOperations))
      if (operation.kind != RequestKind::fetch)
        ++counts[operation.block];
    distinct[skew == 1 ? 0 : 1] = counts.size();
  }
  EXPECT_GT(distinct[0], 4000u);
  EXPECT_LT(distinct[1], distinct[0] * 9 / 10);
}

TEST(Traffic, NamesAreKnownOrRefused) {
  EXPECT_TRUE(find_profile("apache-like").ok());
  EXPECT_NE(find_profile("apache").error().message.find("apache-like"), std::string::npos);
}

} // namespace
} // namespace tandem::machine
