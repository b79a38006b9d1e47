// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/page/page.h"

#include "base/file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

namespace tandem {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::Not;

ReportSection section(const std::string &name, std::uint32_t line) {
  ReportSection result;
  result.name = name;
  result.file = "a.c";
  result.line = line;
  return result;
}

Report sample() {
  Report report;
  report.sections = {section("f", 3), section("g_1", 12)};
  report.sections[0].writes = {"x", "y"};
  report.sections[0].conflicts = {{"f", {"x", "y"}}, {"g_1", {"x", "y"}}};
  report.sections[0].accesses = {{"x", true, "h", "a.c", 9}};
  report.sections[1].kind = SectionKind::lock_region;
  report.sections[1].lock.push_back({{"m"}, "mutex", "pthread-mutex", false, 1});
  report.sections[1].conflicts = {{"f", {"x", "y"}}};
  report.lock_sites = {{"unlock", "pthread-mutex", "m", "a.c", 14, "g", {"g_1"}, ""}};
  return report;
}

json data_of(const Report &report, SourceFiles sources = SourceFiles({})) {
  return json::parse(page_data(report, {}, sources, "program"));
}

TEST(PageData, StoresConflictsAndTheirListsOnce) {
  const json data = data_of(sample());
  EXPECT_EQ(data["conflicts"], json::parse("[[0, 0, 0], [0, 1, 0]]"));
  EXPECT_EQ(data["sets"].size(), 1u);
  EXPECT_EQ(data["names"][data["sets"][0][1].get<std::size_t>()], "y");
}

TEST(PageData, HasTheLinesAroundSectionsAndAccesses) {
  const std::string folder = fmt::format("{}page_test.{}", testing::TempDir(), ::getpid());
  std::filesystem::create_directories(folder);
  ASSERT_TRUE(write_file(folder + "/a.c",
                         "1\n2\nvoid f(void) {\n4\n}\n6\n7\n8\n9\n10\n11\n12\n13\n14\n"
                         "15\n16\n17\n18\n")
                  .ok());
  const json data = data_of(sample(), SourceFiles({folder}));
  std::filesystem::remove_all(folder);
  EXPECT_EQ(data["sections"][0]["end"], 5);  // its closing brace
  EXPECT_EQ(data["sections"][1]["end"], 14); // its unlock
  const json &runs = data["files"]["a.c"];
  ASSERT_EQ(runs.size(), 1u);
  EXPECT_EQ(runs[0][0], 1);
  EXPECT_EQ(runs[0].size(), 17u); // lines 1 to 16: 17 and 18 are nobody's
  EXPECT_EQ(data_of(sample())["files"], json::object());
}

TEST(PageData, HasAPlaceForEverySectionInEveryGrouping) {
  const json data = data_of(sample());
  for (const char *grouping : {"free", "lock", "colour", "file", "class"})
    EXPECT_EQ(data["layouts"][grouping]["places"].size(), 4u) << grouping;
}

TEST(Page, LoadsNothingAndRunsOnlyItsOwnScript) {
  SourceFiles sources({});
  const std::string page = to_html(sample(), {}, sources, "program");
  EXPECT_THAT(page, HasSubstr("default-src 'none'; script-src 'sha256-"));
  for (const char *text : {"src=", "@import", "url(", "https:", "unsafe-", "{{", "eval("})
    EXPECT_THAT(page, Not(HasSubstr(text))) << text;
}

TEST(Page, TextOfTheReportIsNoMarkup) {
  Report report = sample();
  report.sections[0].name = "</script><script>alert(1)</script>";
  report.sections[0].conflicts.clear();
  report.sections[1].conflicts.clear();
  SourceFiles sources({});
  const std::string page = to_html(report, {}, sources, "</title><b>&amp;{{data}}");
  EXPECT_THAT(page, Not(HasSubstr("<script>alert")));
  EXPECT_THAT(page, HasSubstr("&lt;/title&gt;&lt;b&gt;&amp;amp;{{data}}"));
}

} // namespace
} // namespace tandem
