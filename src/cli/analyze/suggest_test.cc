// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/suggest.h"

#include "compiler/convert/file.h"

#include <gtest/gtest.h>

#include <fstream>
#include <unistd.h>

namespace tandem {
namespace {

ReportSection region(const std::string &lock, std::uint32_t line, const std::string &field = "") {
  ReportSection section;
  section.name = "f_" + std::to_string(line);
  section.kind = SectionKind::lock_region;
  section.file = "./server.c";
  section.line = line;
  ReportRegion of;
  of.names = {lock};
  of.exits = 1;
  of.field = field;
  section.lock = {of};
  return section;
}

ReportSection calling(ReportSection section, const std::string &callee) {
  section.irrevocable.push_back({.callee = callee, .chain = {section.name, callee}, .places = {}});
  return section;
}

ConversionFile parsed(const std::string &text) {
  const std::string path = testing::TempDir() + fmt::format("suggest_{}.toml", ::getpid());
  std::ofstream(path) << text;
  const Result<ConversionFile> file = read_conversion(path);
  EXPECT_TRUE(file) << (file ? "" : file.error().message);
  ::unlink(path.c_str());
  return file ? *file : ConversionFile{};
}

ConversionFile suggested(const std::vector<ReportSection> &sections,
                         const std::vector<LockUse> &uses = {},
                         const std::vector<std::string> &externals = {}) {
  Report report;
  report.sections = sections;
  report.externals = externals;
  const Result<std::string> text = suggest_conversion(report, "server", uses);
  EXPECT_TRUE(text) << (text ? "" : text.error().message);
  return text ? parsed(*text) : ConversionFile{};
}

std::vector<std::string> names(const std::vector<ConversionFile::Locks> &entries) {
  std::vector<std::string> all;
  for (const ConversionFile::Locks &entry : entries)
    all.insert(all.end(), entry.names.begin(), entry.names.end());
  return all;
}

using Names = std::vector<std::string>;

TEST(SuggestedFile, HoldsAnyName) {
  const std::string name = "a\n[[lock]]\x1b\"\\\u202e";
  EXPECT_EQ(names(suggested({region(name, 1)}).sections), Names{name});
}

TEST(Suggest, LocksThatNothingWaitsWithAreSections) {
  const ConversionFile file = suggested({region("b_lock", 3), region("a_lock[]", 5)});
  EXPECT_EQ(names(file.sections), (Names{"a_lock[]", "b_lock"}));
  EXPECT_TRUE(file.kept_locks.empty());
  EXPECT_EQ(file.programs, Names{"server"});
}

TEST(Suggest, LocksOfOneFieldAreOne) {
  const ConversionFile file = suggested({region("c->stats.mutex", 3, "stats.mutex"),
                                         region("threads[].stats.mutex", 5, "stats.mutex"),
                                         region("d->mutex", 7, "d.mutex")});
  EXPECT_EQ(names(file.sections), (Names{"d.mutex", "stats.mutex"}));
}

std::vector<ReportSection> with_a_wait() {
  ReportSection wait = region("queue_lock", 9);
  wait.lock[0].kind = "wait";
  return {region("a_lock", 1), region("queue_lock", 8), wait};
}

TEST(Suggest, LockThatIsWaitedWithIsASectionAndSaysSo) {
  const ConversionFile file = suggested(with_a_wait());
  EXPECT_EQ(names(file.sections), (Names{"a_lock", "queue_lock"}));
  EXPECT_EQ(file.sections[1].reason, "2 regions, the first at ./server.c:8; a wait for a "
                                     "condition, as at ./server.c:9, ends its section");
}

TEST(Suggest, LockThatIsWaitedWithIsAGateWhereThreadsAreCancelled) {
  const ConversionFile file = suggested(with_a_wait(), {}, {"malloc", "pthread_cancel"});
  EXPECT_EQ(names(file.kept_locks), Names{"queue_lock"});
  EXPECT_EQ(file.kept_locks[0].reason,
            "threads wait for a condition with it, at ./server.c:9, and the "
            "program calls pthread_cancel");
}

TEST(Suggest, LockHeldAcrossSleepIsAGate) {
  const ConversionFile file =
      suggested({region("a_lock", 1), calling(region("b_lock", 2), "usleep")});
  EXPECT_EQ(names(file.kept_locks), Names{"b_lock"});
  EXPECT_EQ(file.kept_locks[0].reason,
            "held across usleep (in the region at ./server.c:2); 1 of 1 regions are like that");
}

TEST(Suggest, LockThatSleepsInOneRegionOfManyIsASectionAndSaysSo) {
  std::vector<ReportSection> regions{calling(region("a_lock", 1), "poll")};
  for (std::uint32_t line = 2; line < 12; ++line)
    regions.push_back(region("a_lock", line));
  const ConversionFile file = suggested(regions);
  EXPECT_EQ(names(file.sections), Names{"a_lock"});
  EXPECT_EQ(file.sections[0].reason,
            "11 regions, the first at ./server.c:1; nothing waits with it; "
            "but poll (in the region at ./server.c:1)");
}

TEST(Suggest, PausedThroughIsAGate) {
  ReportSection pause = region("work_lock", 4);
  pause.lock[0].shape = RegionShape::escapes;
  pause.lock[0].exits = 0;
  const ConversionFile file =
      suggested({region("a_lock", 1), region("work_lock", 2), region("work_lock", 3), pause});
  EXPECT_EQ(names(file.kept_locks), Names{"work_lock"});
}

TEST(Suggest, OutputDoesNotMakeAGateButOtherActionsInMostRegionsDo) {
  const ConversionFile file = suggested(
      {calling(region("log_lock", 1), "fprintf"), calling(region("event_lock", 2), "event_add")});
  EXPECT_EQ(names(file.sections), Names{"log_lock"});
  EXPECT_EQ(names(file.kept_locks), Names{"event_lock"});
}

TEST(Suggest, OtherKindsOfLocksAreGates) {
  ReportSection shared = region("table_lock", 2);
  shared.lock[0].primitive = "pthread-rwlock";
  const ConversionFile file = suggested({region("a_lock", 1), shared});
  EXPECT_EQ(names(file.kept_locks), Names{"table_lock"});
}

TEST(Suggest, ProfileTellsHowMuchALockIsUsed) {
  const ConversionFile file = suggested({region("a_lock[]", 1), region("p->lock", 7)},
                                        {{"a_lock", "/x/other.c", 3, 300, 60},
                                         {"", "/x/server.c", 7, 10, 0},
                                         {"", "/x/server.c", 8, 1000, 0}});
  EXPECT_TRUE(file.sections[0].reason.ends_with(
      "; acquired 300 times in the profile, 20.0 % of them contended"));
  EXPECT_TRUE(file.sections[1].reason.ends_with(
      "; acquired 10 times in the profile, 0.0 % of them contended"));
}

TEST(Suggest, NothingToConvertIsAnError) {
  Report report;
  report.sections = {calling(region("a_lock", 1), "sleep")};
  const Result<std::string> text = suggest_conversion(report, "", {});
  ASSERT_FALSE(text);
  EXPECT_TRUE(text.error().message.starts_with("there is no lock that could become a section"));
}

TEST(LockUses, AreReadFromAProfile) {
  const Result<std::vector<LockUse>> uses = lock_uses_from_json(
      R"({"locks": [{"object": {"kind": "global", "symbol": "a"},
                     "site": {"file": "x.c", "line": 4}, "acquisitions": 7, "contended": 2}]})",
      "p.json");
  ASSERT_TRUE(uses);
  ASSERT_EQ(uses->size(), 1U);
  EXPECT_EQ((*uses)[0].symbol, "a");
  EXPECT_EQ((*uses)[0].line, 4U);
  EXPECT_EQ((*uses)[0].acquisitions, 7U);
  for (const char *wrong : {"{}", R"({"locks": [1]})", R"({"locks": [{}]})"}) {
    const Result<std::vector<LockUse>> refused = lock_uses_from_json(wrong, "p.json");
    ASSERT_FALSE(refused) << wrong;
    EXPECT_TRUE(refused.error().message.starts_with("p.json: is not a profile of locks"));
  }
  EXPECT_TRUE(
      lock_uses_from_json("", "p.json").error().message.starts_with("p.json:1:1: not JSON"));
}

} // namespace
} // namespace tandem
