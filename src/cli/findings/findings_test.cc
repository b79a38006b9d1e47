// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/findings.h"

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

namespace tandem {
namespace {

using testing::HasSubstr;
using testing::Not;

std::vector<JudgedFinding> sample() {
  return {
      {{"lock-order", "a.c", 3, "a before b", {{"b.c", 4, "b before a"}}, "f", ""}, std::nullopt},
      {{"strict-atomicity", "", 0, "s may reach 'write'", {{"/x y.c", 0, "here"}}}, std::nullopt},
      {{"of-tomorrow", "c.c", 1, "m", {}}, Suppression{true, "c.c:1", "because"}},
  };
}

TEST(FindingsText, IsThatOfCompilers) {
  EXPECT_EQ(findings_text(sample(), {}, {}), "a.c:3: warning: a before b [lock-order]\n"
                                             "b.c:4: note: b before a\n"
                                             "?: error: s may reach 'write' [strict-atomicity]\n"
                                             "/x y.c: note: here\n");
  EXPECT_THAT(findings_text(sample(), {.suppressed = true}, {}),
              HasSubstr("c.c:1: suppressed: m [of-tomorrow]\nc.c:1: note: suppressed here: "
                        "because\n"));
  EXPECT_EQ(findings_count(sample()), "2 findings, 1 suppressed");
  EXPECT_EQ(findings_count({}), "0 findings");
}

TEST(FindingsText, CutsAndCannotWriteToTheTerminal) {
  std::vector<JudgedFinding> many(10, sample()[0]);
  EXPECT_THAT(findings_text(many, {.most = 3}, {}), HasSubstr("… 7 more; --all shows them\n"));
  many[0].finding.message = "m\033[2J";
  EXPECT_THAT(findings_text(many, {}, {}), Not(HasSubstr("\033")));
}

TEST(FindingsText, HasALineForEachKindOfAdvice) {
  std::vector<JudgedFinding> many(3, {{"hidden-pointer", "a.c", 3, "m", {}}, std::nullopt});
  EXPECT_THAT(findings_text(many, {}, {}), HasSubstr("a.c:3: note: m [hidden-pointer]\n"));
  many.insert(many.end(), 2, {{"hidden-pointer", "b.c", 4, "m", {}}, std::nullopt});
  many.push_back(sample()[0]);
  EXPECT_EQ(findings_text(many, {}, {}),
            "a.c:3: warning: a before b [lock-order]\n"
            "b.c:4: note: b before a\n"
            "a.c:3: note: a pointer is used that may have been hidden in a number or in bytes "
            "[hidden-pointer]: 5 places, this the first; --all shows them\n");
  EXPECT_THAT(findings_text(many, {.doubtful = true}, {}),
              HasSubstr("b.c:4: note: m [hidden-pointer]\n"));
}

TEST(Sarif, HasPlacesPathsAndSuppressions) {
  const auto log = nlohmann::json::parse(to_sarif(sample()));
  const auto &results = log["runs"][0]["results"];
  ASSERT_EQ(results.size(), 3u);
  const auto &place = results[0]["locations"][0]["physicalLocation"];
  EXPECT_EQ(place["artifactLocation"]["uri"], "a.c");
  EXPECT_EQ(place["region"]["startLine"], 3);
  EXPECT_EQ(results[0]["relatedLocations"][0]["message"]["text"], "b before a");
  EXPECT_FALSE(results[0].contains("codeFlows")); // its notes are no path
  EXPECT_EQ(results[1]["level"], "error");
  EXPECT_TRUE(results[1]["locations"].empty());
  const auto &step = results[1]["codeFlows"][0]["threadFlows"][0]["locations"][0]["location"];
  EXPECT_EQ(step["physicalLocation"]["artifactLocation"]["uri"], "file:///x%20y.c");
  EXPECT_EQ(results[2]["suppressions"][0]["kind"], "inSource");
  EXPECT_EQ(results[2]["suppressions"][0]["justification"], "because");
  for (const auto &result : results) {
    const auto &rules = log["runs"][0]["tool"]["driver"]["rules"];
    EXPECT_EQ(rules[result["ruleIndex"].get<std::size_t>()]["id"], result["ruleId"]);
  }
}

// What moves with the lines above it stays the same finding.
TEST(Sarif, FingerprintsDoNotDependOnLines) {
  auto moved = sample();
  moved[0].finding.line = 99;
  const auto print = [](const std::vector<JudgedFinding> &findings, std::size_t index) {
    return nlohmann::json::parse(
               to_sarif(findings))["runs"][0]["results"][index]["partialFingerprints"]["tandem/v1"]
        .get<std::string>();
  };
  EXPECT_EQ(print(sample(), 0), print(moved, 0));
  EXPECT_NE(print(sample(), 0), print(sample(), 1));
}

} // namespace
} // namespace tandem
