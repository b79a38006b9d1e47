// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timing/timeline.h"

#include <gtest/gtest.h>

namespace tandem::machine {
namespace {

TEST(TimelineIntervals, GrowWithTheRunAndLoseNothing) {
  Timeline timeline(2);
  timeline.begin(1000);
  Cycle at = 1000;
  for (unsigned i = 0; i < 1000; ++i, at += 130)
    timeline.spend(i % 2, i % 3 == 0 ? Spent::load : Spent::user, at, at + 100);
  timeline.finish(at);
  EXPECT_EQ(timeline.start(), 1000U);
  for (unsigned hart = 0; hart < 2; ++hart) {
    EXPECT_LE(timeline.of(hart).size(), Timeline::kIntervals);
    std::uint64_t busy = 0, all = 0;
    for (const Timeline::Cycles &cycles : timeline.of(hart))
      for (std::size_t kind = 0; kind < kSpentKinds; ++kind) {
        all += cycles[kind];
        busy += kind == static_cast<std::size_t>(Spent::idle) ? 0 : cycles[kind];
      }
    EXPECT_EQ(busy, 500U * 100);
    EXPECT_EQ(all, at - 1000);
  }
}

TEST(TimelineLines, SharingIsNamed) {
  const auto told = [](std::vector<std::pair<unsigned, MissedAccess>> accesses) {
    Timeline timeline(4);
    for (auto &[hart, access] : accesses)
      timeline.missed(hart, access);
    return timeline.lines().at(7).sharing();
  };
  const auto read = [](std::uint64_t bytes) { return MissedAccess{.line = 7, .bytes = bytes}; };
  const auto write = [](std::uint64_t bytes) {
    return MissedAccess{.line = 7, .bytes = bytes, .writes = true};
  };
  EXPECT_EQ(told({{0, write(1)}, {0, read(2)}}), LineStory::Sharing::none);
  EXPECT_EQ(told({{0, read(1)}, {1, read(1)}}), LineStory::Sharing::reading);
  EXPECT_EQ(told({{0, write(1)}, {1, read(3)}}), LineStory::Sharing::truly);
  EXPECT_EQ(told({{0, read(2)}, {0, write(1)}, {1, write(12)}}), LineStory::Sharing::falsely);
  EXPECT_EQ(told({{0, read(2)}, {0, write(1)}, {1, write(2)}}), LineStory::Sharing::truly);
}

} // namespace
} // namespace tandem::machine
