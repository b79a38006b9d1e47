// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/graph/graph.h"

#include <cmath>
#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

ReportSection section(const std::string &name) {
  ReportSection result;
  result.name = name;
  result.file = "a.c";
  result.line = 3;
  return result;
}

// A ring of `count` sections, every third of which is a lock region.
Report ring(std::size_t count) {
  Report report;
  for (std::size_t index = 0; index < count; ++index) {
    report.sections.push_back(section(fmt::format("section_number_{}", index)));
    ReportSection &made = report.sections.back();
    made.klass = static_cast<SectionClass>(index % 3);
    made.file = index % 2 == 0 ? "a.c" : "b.c";
    made.reads.resize(index % 40);
    if (index % 3 == 0) {
      made.kind = SectionKind::lock_region;
      made.lock.push_back(
          {{fmt::format("lock_{}", index % 5)}, "mutex", "pthread-mutex", false, 1});
    }
  }
  for (std::size_t index = 0; index < count; ++index)
    report.sections[index].conflicts = {
        {fmt::format("section_number_{}", (index + 1) % count), {"x"}}};
  return report;
}

TEST(ConflictEdges, EveryPairOnceWhicheverNamesTheOther) {
  Report report;
  report.sections = {section("a"), section("b"), section("c")};
  report.sections[0].conflicts = {{"a", {"x"}}, {"c", {"x", "y"}}, {"gone", {"x"}}};
  report.sections[2].conflicts = {{"a", {"x"}}, {"b", {"z"}}};
  EXPECT_THAT(conflict_edges(report),
              ElementsAre(ConflictEdge{0, 0, 1}, ConflictEdge{0, 2, 2}, ConflictEdge{1, 2, 1}));
}

TEST(Layout, IsTheSameEveryTime) {
  const Report report = ring(40);
  const auto edges = conflict_edges(report);
  for (const Grouping grouping : kGroupings) {
    const GraphLayout once = lay_out(report, edges, grouping);
    const GraphLayout again = lay_out(report, edges, grouping);
    for (std::size_t index = 0; index < 40; ++index) {
      EXPECT_EQ(once.places[index].x, again.places[index].x);
      EXPECT_EQ(once.places[index].y, again.places[index].y);
    }
  }
}

// Neither discs nor, where they are shown, names lie on each other; all lie in the picture.
TEST(Layout, NothingOverlaps) {
  for (const std::size_t count : {1, 2, 7, 60, 260})
    for (const Grouping grouping : kGroupings) {
      SCOPED_TRACE(fmt::format("{} sections, {}", count, to_string(grouping)));
      const Report report = ring(count);
      const GraphLayout layout = lay_out(report, conflict_edges(report), grouping);
      ASSERT_EQ(layout.places.size(), count);
      std::size_t overlaps = 0;
      for (std::size_t first = 0; first < count; ++first) {
        const Point at = layout.places[first];
        ASSERT_TRUE(std::isfinite(at.x) && std::isfinite(at.y));
        EXPECT_TRUE(at.x > 0 && at.y > 0 && at.x < layout.width && at.y < layout.height);
        for (std::size_t second = first + 1; second < count; ++second) {
          const double x = std::abs(at.x - layout.places[second].x);
          const double y = std::abs(at.y - layout.places[second].y);
          overlaps += x < 20 && y < 20;
        }
      }
      EXPECT_EQ(overlaps, 0u);
    }
}

TEST(Layout, CardsHoldTheirSectionsAndNoOthers) {
  const Report report = ring(100);
  for (const Grouping grouping :
       {Grouping::lock, Grouping::colour, Grouping::file, Grouping::klass}) {
    const GraphLayout layout = lay_out(report, {}, grouping);
    std::size_t members = 0;
    for (const Group &group : layout.groups) {
      members += group.members.size();
      std::size_t inside = 0;
      for (const Point &place : layout.places)
        inside += place.x > group.corner.x && place.x < group.corner.x + group.width &&
                  place.y > group.corner.y && place.y < group.corner.y + group.height;
      EXPECT_EQ(inside, group.members.size()) << group.name;
    }
    EXPECT_EQ(members, 100u);
  }
}

TEST(Svg, ShowsSectionsAndConflictsAndEscapesNames) {
  Report report;
  report.output = "a&b";
  report.sections = {section("operator<"), section("\"\033[2J\xff")};
  report.sections[0].klass = SectionClass::hybrid;
  report.sections[0].conflicts = {{"operator<", {"x"}}, {"\"\033[2J\xff", {"p->q"}}};
  const std::string svg = to_svg(report);
  EXPECT_THAT(svg, HasSubstr("<title>Conflict graph of a&amp;b: 2 sections, 2 conflicts</title>"));
  EXPECT_THAT(svg, HasSubstr("section hybrid"));
  EXPECT_THAT(svg, HasSubstr("operator&lt; and &quot;\\x1b[2J\\xff on p-&gt;q"));
  EXPECT_THAT(svg, Not(HasSubstr("\033")));
  EXPECT_THAT(svg, Not(HasSubstr("\xff")));
}

TEST(Svg, JoinsCardsWhereSectionsHaveTooManyConflicts) {
  Report report = ring(90);
  const std::string few = to_svg(report);
  EXPECT_THAT(few, HasSubstr("section_number_0 and section_number_1 on x"));
  for (ReportSection &from : report.sections)
    for (const ReportSection &to : report.sections)
      from.conflicts.push_back({to.name, {"x"}});
  const std::string many = to_svg(report);
  EXPECT_THAT(many, Not(HasSubstr("section_number_0 and section_number_1 on x")));
  EXPECT_THAT(many, HasSubstr("atomic sections and lock_0: "));
}

TEST(Svg, OfNothing) { EXPECT_THAT(to_svg(Report{}), HasSubstr("no sections")); }

TEST(Dot, QuotesNames) {
  Report report;
  report.sections = {section("a\"b\\")};
  report.sections[0].conflicts = {{"a\"b\\", {"x", "y"}}};
  const std::string dot = to_dot(report);
  EXPECT_THAT(dot, HasSubstr("\"a\\\"b\\\\\" -- \"a\\\"b\\\\\" [penwidth=1.6, weight=2"));
  EXPECT_THAT(to_dot(Report{}), HasSubstr("graph conflicts {"));
}

} // namespace
} // namespace tandem
