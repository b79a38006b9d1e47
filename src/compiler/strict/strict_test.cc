// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/strict/strict.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

Report one_section(bool strict, std::vector<ReportIrrevocable> irrevocable) {
  ReportSection section;
  section.name = "f";
  section.file = "src/a.c";
  section.line = 3;
  section.strict = strict;
  section.irrevocable = std::move(irrevocable);
  Report report;
  report.sections.push_back(std::move(section));
  return report;
}

const ReportIrrevocable kPrints{"printf", {"f", "g", "printf"}, {"src/a.c:4", "src/b.c:10"}, false};

TEST(Strict, WhatIsNotStrictMayDoAnything) {
  EXPECT_TRUE(strict_violations(one_section(false, {kPrints})).empty());
  EXPECT_TRUE(strict_errors(one_section(false, {kPrints})).empty());
}

TEST(Strict, AStrictSectionWithoutIrrevocableActionsIsFine) {
  EXPECT_TRUE(strict_violations(one_section(true, {})).empty());
  EXPECT_TRUE(strict_errors(one_section(true, {})).empty());
}

TEST(Strict, TellsTheChainWithItsPlaces) {
  EXPECT_EQ(
      strict_errors(one_section(true, {kPrints})),
      (std::vector<std::string>{"src/a.c:3: error: strict atomic section 'f' reaches 'printf': "
                                "f (src/a.c:4) → g (src/b.c:10) → printf"}));
}

TEST(Strict, TellsTheChainWithoutPlaces) {
  Report report = one_section(true, {{"write", {"f", "write"}, {}, true}});
  EXPECT_EQ(strict_errors(report).at(0),
            "src/a.c:3: error: strict atomic section 'f' reaches 'write': f → write")
      << "a cold path counts too";
  report.sections[0].line = 0;
  EXPECT_EQ(strict_errors(report).at(0),
            "src/a.c: error: strict atomic section 'f' reaches 'write': f → write");
  report.sections[0].file.clear();
  EXPECT_EQ(strict_errors(report).at(0),
            "error: strict atomic section 'f' reaches 'write': f → write");
}

TEST(Strict, HasOneLineForEachCallee) {
  const Report report = one_section(true, {kPrints, {"write", {"f", "write"}, {}, false}});
  EXPECT_EQ(strict_errors(report).size(), 2u);
  EXPECT_EQ(strict_violations(report).size(), 2u);
}

TEST(Strict, AViolationIsAFindingAtTheSection) {
  const ReportFinding finding = strict_violations(one_section(true, {kPrints})).at(0);
  EXPECT_EQ(finding.rule, "strict-atomicity");
  EXPECT_EQ(finding.file, "src/a.c");
  EXPECT_EQ(finding.line, 3u);
  EXPECT_EQ(finding.section, "f");
  EXPECT_EQ(finding.message, "strict atomic section 'f' reaches 'printf'");
  EXPECT_EQ(finding.notes, (std::vector<ReportNote>{{"src/a.c", 4, "'f' calls 'g'"},
                                                    {"src/b.c", 10, "'g' calls 'printf'"}}));
}

TEST(Strict, APlaceWithoutALineIsAllFile) {
  for (const char *place : {"a.c", "a.c:", "a.c:x", "a.c:1x", "a.c:99999999999"}) {
    const Report report = one_section(true, {{"write", {"f", "write"}, {place}, false}});
    EXPECT_EQ(strict_violations(report).at(0).notes.at(0),
              (ReportNote{place, 0, "'f' calls 'write'"}));
  }
}

} // namespace
} // namespace tandem
