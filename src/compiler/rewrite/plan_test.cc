// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/plan.h"

#include <gmock/gmock.h>

namespace tandem::rewrite {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

ReportSection section(const std::string &name, SectionClass klass, std::vector<std::string> colours,
                      const std::vector<std::string> &conflicts) {
  ReportSection made;
  made.name = name;
  made.klass = klass;
  made.colours = std::move(colours);
  for (const std::string &with : conflicts)
    made.conflicts.push_back({with, {}});
  return made;
}

// LockSTM's figure 3.
Report figure() {
  Report report;
  report.sections = {
      section("PromptForX", SectionClass::non_revocable, {"A"}, {"PromptForX", "SwapXY"}),
      section("SwapXY", SectionClass::hybrid, {"A", "B"}, {"PromptForX", "SwapXY", "SetY"}),
      section("SetY", SectionClass::pure, {"B"}, {"SwapXY", "SetY"}),
      section("SetZ", SectionClass::pure, {"C"}, {"SetZ"})};
  return report;
}

ReportLock alone(const std::string &colour) { return {colour, LockMode::exclusive}; }
ReportLock shared(const std::string &colour) { return {colour, LockMode::shared}; }

TEST(RewritePlan, LocksAreAllColoursAlone) {
  const auto planned = plan(figure(), {false, false, false, false}, Mode::locks);
  EXPECT_THAT(planned[1].guard.locks, ElementsAre(alone("A"), alone("B")));
  EXPECT_THAT(planned[3].guard.locks, ElementsAre(alone("C")));
  EXPECT_FALSE(planned[3].guard.transaction);
}

TEST(RewritePlan, HybridKeepsColoursOfNonRevocableSections) {
  const auto planned = plan(figure(), {false, false, false, false}, Mode::hybrid);
  EXPECT_THAT(planned[0].guard.locks, ElementsAre(alone("A")));
  EXPECT_FALSE(planned[0].guard.transaction);
  EXPECT_THAT(planned[1].guard.locks, ElementsAre(shared("A")));
  EXPECT_TRUE(planned[1].guard.transaction);
  EXPECT_THAT(planned[2].guard.locks, IsEmpty());
  EXPECT_EQ(planned[2].klass, SectionClass::pure);
}

TEST(RewritePlan, WhatGccRefusesChangesItsNeighbours) {
  const auto planned = plan(figure(), {false, false, true, false}, Mode::hybrid);
  EXPECT_EQ(planned[2].klass, SectionClass::non_revocable);
  EXPECT_THAT(planned[2].guard.locks, ElementsAre(alone("B")));
  EXPECT_THAT(planned[1].guard.locks, ElementsAre(shared("A"), shared("B")));
  EXPECT_EQ(planned[3].klass, SectionClass::pure);
}

TEST(RewritePlan, ColoursSharedWithLockRegionsAloneAreNoLocks) {
  Report report;
  report.sections = {section("f", SectionClass::non_revocable, {"A", "B"}, {"region", "f"}),
                     section("g", SectionClass::pure, {"A"}, {"region"}),
                     section("region", SectionClass::pure, {"A"}, {"f", "g", "region"})};
  report.sections[2].kind = SectionKind::lock_region;
  const auto planned = plan(report, {false, false, false}, Mode::hybrid);
  EXPECT_THAT(planned[0].guard.locks, ElementsAre(alone("A"))); // against itself
  EXPECT_THAT(planned[1].guard.locks, IsEmpty());
  EXPECT_TRUE(planned[2].guard.empty());
}

TEST(RewritePlan, ColoursAreInTotalOrder) {
  EXPECT_TRUE(before("A", "B"));
  EXPECT_TRUE(before("Z", "AA"));
  EXPECT_FALSE(before("AA", "Z"));
  EXPECT_FALSE(before("A", "A"));
}

} // namespace
} // namespace tandem::rewrite
