// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/conflicts/conflicts.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <random>

namespace tandem {
namespace {

Location part(NodeId node, std::uint64_t begin, std::uint64_t end, bool shared) {
  return {.node = node, .begin = begin, .end = end, .shared = shared, .name = "v"};
}

// A random program of `sections` sections over a few objects and halves of objects, shared or not,
// some of which never run together.
struct Program {
  std::vector<SectionEffects> sections;
  std::vector<Location> locations;
};

Program random_program(std::mt19937_64 &random, std::size_t sections) {
  const auto chance = [&](unsigned percent) { return random() % 100 < percent; };
  Program program;
  for (NodeId node = 0; node <= 4; ++node) {
    program.locations.push_back(part(node, 0, 4, chance(80)));
    program.locations.push_back(part(node, 4, 8, chance(80)));
    program.locations.push_back(part(node, 0, 8, chance(80)));
  }
  program.sections.resize(sections);
  for (SectionEffects &section : program.sections) {
    for (std::uint32_t location = 0; location < program.locations.size(); ++location) {
      if (chance(15))
        section.reads.insert(location);
      if (chance(8))
        section.writes.insert(location);
    }
    if (chance(25))
      section.irrevocable.push_back({.callee = "puts", .chain = {"s", "puts"}, .places = {}});
    section.entries = {static_cast<std::uint32_t>(random() % 3)};
  }
  return program;
}

// Entry 0 is run by one thread, the others by many.
bool may_run_together(const Program &program, std::size_t a, std::size_t b) {
  return program.sections[a].entries != program.sections[b].entries ||
         program.sections[a].entries.front() != 0;
}

ConflictGraph graph_of(const Program &program) {
  return ConflictGraph(program.sections, program.locations, [&](std::size_t a, std::size_t b) {
    return may_run_together(program, a, b);
  });
}

// Slow and obvious: two accesses, one a write, to a byte that both may touch.
bool may_conflict(const Program &program, std::size_t a, std::size_t b) {
  const auto clash = [&](const std::set<std::uint32_t> &writes,
                         const std::set<std::uint32_t> &any) {
    for (const std::uint32_t w : writes)
      for (const std::uint32_t t : any) {
        const Location &x = program.locations[w];
        const Location &y = program.locations[t];
        bool same_byte = false;
        for (std::uint64_t byte = 0; byte < 8; ++byte)
          same_byte |= x.node == y.node && x.begin <= byte && byte < x.end && y.begin <= byte &&
                       byte < y.end;
        if (same_byte && x.shared && y.shared)
          return true;
      }
    return false;
  };
  const SectionEffects &x = program.sections[a];
  const SectionEffects &y = program.sections[b];
  return may_run_together(program, a, b) &&
         (clash(x.writes, y.reads) || clash(x.writes, y.writes) || clash(y.writes, x.reads));
}

class RandomPrograms : public testing::TestWithParam<std::uint64_t> {
protected:
  void SetUp() override {
    std::mt19937_64 random(GetParam());
    program_ = random_program(random, 1 + random() % 24);
  }
  Program program_;
};

TEST_P(RandomPrograms, EdgesAreExactlyThePossibleConflicts) {
  const ConflictGraph graph = graph_of(program_);
  for (std::size_t a = 0; a < graph.size(); ++a)
    for (std::size_t b = a; b < graph.size(); ++b) {
      EXPECT_EQ(graph.conflict(a, b), may_conflict(program_, a, b)) << a << " " << b;
      EXPECT_EQ(graph.common(a, b).empty(), !graph.conflict(a, b));
    }
}

TEST_P(RandomPrograms, ColoursAreCliquesThatCoverEveryEdge) {
  const ConflictGraph graph = graph_of(program_);
  const std::vector<ColourMembers> colours = colour(graph);
  for (const ColourMembers &members : colours)
    for (const std::size_t a : members)
      for (const std::size_t b : members)
        EXPECT_TRUE(a == b ? members.size() > 1 || graph.conflict(a, a) : graph.conflict(a, b));
  const auto has = [](const ColourMembers &members, std::size_t section) {
    return std::find(members.begin(), members.end(), section) != members.end();
  };
  for (const auto &[pair, on] : graph.edges())
    EXPECT_TRUE(std::any_of(colours.begin(), colours.end(),
                            [&](const ColourMembers &members) {
                              return has(members, pair.first) && has(members, pair.second);
                            }))
        << pair.first << " and " << pair.second << " share no colour";
}

TEST_P(RandomPrograms, UnitedColoursAreFewAndCoverEveryEdge) {
  const ConflictGraph graph = graph_of(program_);
  for (const std::size_t most : {1U, 2U, 4U}) {
    const std::vector<ColourMembers> colours = unite_colours(colour(graph), graph.size(), most);
    std::vector<std::size_t> count(graph.size());
    for (const ColourMembers &members : colours) {
      EXPECT_TRUE(std::ranges::is_sorted(members));
      for (const std::size_t member : members)
        ++count[member];
    }
    for (std::size_t section = 0; section < graph.size(); ++section)
      EXPECT_LE(count[section], most);
    for (const auto &[pair, on] : graph.edges())
      EXPECT_TRUE(std::ranges::any_of(colours,
                                      [&](const ColourMembers &members) {
                                        return std::ranges::binary_search(members, pair.first) &&
                                               std::ranges::binary_search(members, pair.second);
                                      }))
          << pair.first << " and " << pair.second << " share no colour";
  }
}

TEST(UniteColours, KeepsWhatIsFewEnough) {
  const std::vector<ColourMembers> colours = {{0, 1}, {0, 2}, {1, 2}, {3}};
  EXPECT_EQ(unite_colours(colours, 4, 2), colours);
}

// Of section 0's colours {0,1,2} and {0,1,3} save two acquisitions, and only 2 and 3 exclude each
// other for it.
TEST(UniteColours, UnitesThoseThatHaveMostInCommon) {
  const std::vector<ColourMembers> colours = {{0, 1, 2}, {0, 1, 3}, {0, 4, 5}};
  const std::vector<ColourMembers> expected = {{0, 1, 2, 3}, {0, 4, 5}};
  EXPECT_EQ(unite_colours(colours, 6, 2), expected);
}

// A section that looks at what each of many others writes. Within the test's time.
TEST(UniteColours, UnitesAThousandOfOneSection) {
  constexpr std::size_t kSections = 1000;
  std::vector<ColourMembers> colours;
  for (std::size_t section = 1; section < kSections; ++section)
    colours.push_back({0, section});
  const std::vector<ColourMembers> united = unite_colours(colours, kSections);
  EXPECT_EQ(united.size(), kMostColours);
  std::size_t members = 0;
  for (const ColourMembers &colour : united) {
    EXPECT_EQ(colour.front(), 0U);
    members += colour.size() - 1;
  }
  EXPECT_EQ(members, kSections - 1);
}

TEST_P(RandomPrograms, LocksKeepNonRevocableSectionsApartFromWhatConflictsWithThem) {
  const ConflictGraph graph = graph_of(program_);
  const std::vector<ColourMembers> colours = unite_colours(colour(graph), graph.size());
  const std::vector<Classified> classes = classify(program_.sections, colours);
  const auto mode = [&](std::size_t section, std::size_t colour_number) {
    for (const auto &[number, lock_mode] : classes[section].locks)
      if (number == colour_number)
        return lock_mode == LockMode::exclusive ? 2 : 1;
    return 0;
  };
  for (const auto &[pair, on] : graph.edges()) {
    const auto [a, b] = pair;
    if (classes[a].klass != SectionClass::non_revocable &&
        classes[b].klass != SectionClass::non_revocable)
      continue; // two transactions: the STM keeps them apart
    bool excluded = false;
    for (std::size_t number = 0; number < colours.size(); ++number)
      excluded |= mode(a, number) + mode(b, number) >= 3;
    EXPECT_TRUE(excluded) << a << " and " << b;
  }
  for (std::size_t i = 0; i < classes.size(); ++i) {
    EXPECT_EQ(classes[i].klass == SectionClass::non_revocable,
              !program_.sections[i].irrevocable.empty());
    if (classes[i].klass == SectionClass::pure) {
      EXPECT_TRUE(classes[i].locks.empty());
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, testing::Range<std::uint64_t>(1, 61),
                         [](const auto &info) { return "seed_" + std::to_string(info.param); });

TEST(ColourName, CountsLikeSpreadsheetColumns) {
  EXPECT_EQ(colour_name(0), "A");
  EXPECT_EQ(colour_name(25), "Z");
  EXPECT_EQ(colour_name(26), "AA");
  EXPECT_EQ(colour_name(27), "AB");
  EXPECT_EQ(colour_name(701), "ZZ");
  EXPECT_EQ(colour_name(702), "AAA");
}

} // namespace
} // namespace tandem
