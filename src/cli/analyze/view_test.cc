// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/tables.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ReportSection section(const std::string &name, SectionKind kind, SectionClass klass) {
  ReportSection result;
  result.name = name;
  result.kind = kind;
  result.klass = klass;
  result.file = name + ".c";
  result.line = 3;
  return result;
}

ReportSection region(const std::string &name, const std::string &lock, const std::string &kind,
                     RegionShape shape, std::uint32_t exits) {
  ReportSection result = section(name, SectionKind::lock_region, SectionClass::pure);
  result.lock = {{{lock}, kind, "pthread-mutex", false, exits, shape}};
  return result;
}

Report sample() {
  Report report;
  report.sections = {section("f", SectionKind::function, SectionClass::hybrid),
                     region("r3", "b", "trylock", RegionShape::escapes, 2),
                     section("a", SectionKind::block, SectionClass::non_revocable),
                     region("r1", "b", "mutex", RegionShape::same_function, 1),
                     region("r2", "a", "wait", RegionShape::not_nested, 3)};
  report.sections[2].writes = {"x", "y"};
  report.sections[2].irrevocable = {{"printf", {"a", "printf"}, {}, false},
                                    {"write", {"a", "g", "write"}, {}, false}};
  report.sections[2].irrevocable_at = IrrevocableAt::reach;
  return report;
}

std::vector<std::string> names(const Sections &sections) {
  std::vector<std::string> result;
  for (const ReportSection *section : sections)
    result.push_back(section->name);
  return result;
}

TEST(SelectSections, SortsAndFilters) {
  const Report report = sample();
  const auto selected = [&](SortKey key) { return names(select_sections(report, {.sort = key})); };
  EXPECT_THAT(selected(SortKey::place), ElementsAre("f", "r3", "a", "r1", "r2"));
  EXPECT_THAT(selected(SortKey::name), ElementsAre("a", "f", "r1", "r2", "r3"));
  EXPECT_THAT(selected(SortKey::klass), ElementsAre("a", "f", "r3", "r1", "r2"));
  EXPECT_THAT(selected(SortKey::lock), ElementsAre("f", "a", "r2", "r3", "r1"));
  EXPECT_THAT(selected(SortKey::size), ElementsAre("a", "f", "r3", "r1", "r2"));
  EXPECT_THAT(names(select_sections(report, {.kinds = {SectionKind::block}})), ElementsAre("a"));
}

TEST(ParseKinds, ReadsListsAndRefusesTheRest) {
  EXPECT_THAT(*parse_kinds("block,lock-region"),
              ElementsAre(SectionKind::block, SectionKind::lock_region));
  for (const char *text : {"", "lock", "block,", "block,block", "block lambda"})
    EXPECT_FALSE(parse_kinds(text).ok()) << text;
}

TEST(ParseSort, KnowsItsNames) {
  for (const char *text : {"place", "name", "class", "lock", "size"})
    EXPECT_TRUE(parse_sort(text).ok()) << text;
  EXPECT_EQ(parse_sort("colour").error().message,
            "'colour' is no order; use place, name, class, lock or size");
}

TEST(Totals, CountRegionsByKindShapeAndLock) {
  const Report report = sample();
  const Sections sections = select_sections(report, {});
  EXPECT_EQ(region_line(count_regions(sections)),
            "3 lock regions: 1 mutex, 1 trylock, 1 wait; 1 same-function, 1 escape, 1 not nested; "
            "2 with more than one exit");
  const auto locks = count_by_lock(sections);
  ASSERT_EQ(locks.size(), 2u);
  EXPECT_EQ(locks[0].first, "b");
  EXPECT_EQ(locks[0].second.regions, 2u);
  EXPECT_EQ(locks[1].second.wait, 1u);
}

TEST(ReportText, SaysThatThereIsNothing) {
  EXPECT_THAT(report_text(Report{}, "p", {}, {}, {}),
              HasSubstr("no atomic sections and no lock regions\n"));
  EXPECT_THAT(report_text(sample(), "p", {}, {.kinds = {SectionKind::lambda}}, {}),
              HasSubstr("no sections of that kind\n"));
}

TEST(ReportText, CutsLongLists) {
  Report report;
  std::vector<JudgedFinding> findings;
  for (int index = 0; index < 100; ++index) {
    report.sections.push_back(
        section("f" + std::to_string(index), SectionKind::function, SectionClass::pure));
    findings.push_back({{"rule", "a.c", 1, "m" + std::to_string(index), {}}, std::nullopt});
  }
  const Terminal person{.interactive = true, .width = 200, .colour = false};
  EXPECT_THAT(report_text(report, "p", findings, {}, person),
              HasSubstr("… 60 more; --all shows them\n"));
  EXPECT_THAT(report_text(report, "p", findings, {}, person), Not(HasSubstr("f40.c")));
  EXPECT_THAT(report_text(report, "p", findings, {.all = true}, person), Not(HasSubstr("more;")));
  EXPECT_THAT(report_text(report, "p", findings, {}, {}), HasSubstr("f99.c"));
  // Findings elsewhere, too: what is not shown is said.
  EXPECT_THAT(report_text(report, "p", findings, {}, {}), Not(HasSubstr("m99 [rule]")));
  EXPECT_THAT(report_text(report, "p", findings, {}, {}), HasSubstr("86 more"));
  EXPECT_THAT(report_text(report, "p", findings, {.all = true}, {}), HasSubstr("m99 [rule]"));
}

TEST(ReportText, NamesFromOutsideCannotWriteToTheTerminal) {
  Report report = sample();
  report.output = "o\033[2J";
  report.shared = {"s\033[2J"};
  const std::vector<JudgedFinding> findings = {
      {{"r\033[2J", "f\033[2J", 1, "m\033[2J", {}}, std::nullopt}};
  report.sections[0].name = report.sections[0].file = "n\033[2J";
  report.colours = {{"A\033[2J", {"l\033[2J"}}};
  EXPECT_THAT(report_text(report, "p\033[2J", findings, {.all = true}, {}), Not(HasSubstr("\033")));
  EXPECT_THAT(*section_text(report, "n\033[2J", {}, {}), Not(HasSubstr("\033")));
}

TEST(SectionText, ShowsChainsAndConflicts) {
  Report report = sample();
  report.sections[2].conflicts = {{"f", {"x"}}};
  const Result<std::string> text = section_text(report, "a", {}, {});
  ASSERT_TRUE(text.ok());
  EXPECT_EQ(*text, "a.c:3: a: non-revocable block\n"
                   "writes:       x, y\n"
                   "irrevocable:  at reach\n"
                   "  a -> printf\n"
                   "  a -> g -> write\n"
                   "conflicts with:\n"
                   "  f on x\n");
  EXPECT_EQ(section_text(report, "r4", {}, {}).error().message,
            "there is no section 'r4'; did you mean 'r3'?");
  EXPECT_EQ(section_text(report, "something", {}, {}).error().message,
            "there is no section 'something'");
}

} // namespace
} // namespace tandem
