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
                         const std::vector<Profile> &profiles = {},
                         const std::vector<std::string> &externals = {}) {
  Report report;
  report.sections = sections;
  report.externals = externals;
  const Result<std::string> text = suggest_conversion(report, "server", profiles);
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

TEST(Suggest, PathsWithAndWithoutAFieldAreOneLock) {
  const ConversionFile file =
      suggested({region("c->mutex", 3, "coder.mutex"), region("t->mutex", 5, "coder.mutex"),
                 region("c->mutex", 7), region("other", 8)});
  ASSERT_EQ(file.sections.size(), 2U);
  EXPECT_EQ(file.sections[0].names, (Names{"coder.mutex", "c->mutex"}));
}

TEST(Suggest, WhatThrowsMakesNoGate) {
  EXPECT_EQ(names(suggested({calling(region("a_lock", 1), "__cxa_begin_catch"),
                             calling(region("b_lock", 2), "std::__throw_bad_alloc()")})
                      .sections),
            (Names{"a_lock", "b_lock"}));
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
  ReportSection c11 = region("table_lock", 2);
  c11.lock[0].primitive = "c11-mtx";
  const ConversionFile file = suggested({region("a_lock", 1), c11});
  EXPECT_EQ(names(file.kept_locks), Names{"table_lock"});
}

TEST(Suggest, ReadersLocksAndThoseOfTheLibraryAreSections) {
  ReportSection shared = region("table_lock", 2);
  shared.lock[0].primitive = "pthread-rwlock";
  ReportSection mutex = region("cache.lock", 3);
  mutex.lock[0].primitive = "std-mutex";
  EXPECT_EQ(names(suggested({shared, mutex}).sections), (Names{"cache.lock", "table_lock"}));
}

ProfileLock variable(const std::string &name, std::uint64_t acquired, std::uint64_t contended) {
  ProfileLock lock;
  lock.variable = true;
  lock.symbol = name;
  lock.acquisitions = acquired;
  lock.contended = contended;
  return lock;
}

ProfileLock site(std::uint64_t line, std::uint64_t acquired, std::uint64_t contended) {
  ProfileLock lock = variable("", acquired, contended);
  lock.variable = false;
  lock.site = {"f", "/x/server.c", line};
  return lock;
}

Profile of_locks(const std::vector<ProfileLock> &locks) {
  Profile profile;
  profile.of_locks = true;
  profile.locks = locks;
  return profile;
}

TEST(Suggest, ProfileTellsHowMuchALockIsUsed) {
  const ConversionFile file =
      suggested({region("a_lock[]", 1), region("p->lock", 7)},
                {of_locks({variable("a_lock", 300, 60), site(7, 10, 1), site(8, 1000, 0)})});
  ASSERT_EQ(file.sections.size(), 2U);
  EXPECT_TRUE(file.sections[0].reason.ends_with(
      "; acquired 300 times in the profile, 20.0 % of them contended"));
  EXPECT_TRUE(file.sections[1].reason.ends_with(
      "; acquired 10 times in the profile, 10.0 % of them contended"));
}

TEST(Suggest, LocksThatAreNeverWaitedForStayLocks) {
  const ConversionFile file =
      suggested({region("a_lock", 1), region("b_lock", 7), region("c_lock", 9)},
                {of_locks({variable("a_lock", 300, 60), site(7, 10, 0)})});
  EXPECT_EQ(names(file.sections), Names{"a_lock"});
  EXPECT_EQ(names(file.kept_locks), (Names{"b_lock", "c_lock"}));
  EXPECT_EQ(file.kept_locks[0].reason, "never waited for: acquired 10 times in the profile");
  EXPECT_EQ(file.kept_locks[1].reason, "never waited for: acquired 0 times in the profile");
}

TEST(Suggest, ProfileOfAWrapperSaysNothingOfItsCallersLocks) {
  // Line 40 is in a function that acquires for its callers.
  const ConversionFile file = suggested({region("a_lock", 1), region("p->lock", 7)},
                                        {of_locks({variable("a_lock", 9, 1), site(40, 10, 0)})});
  EXPECT_EQ(names(file.sections), (Names{"a_lock", "p->lock"}));
}

TEST(Suggest, ProfileKnowsALockByTheVariableThatItIsAPartOf) {
  const ConversionFile file =
      suggested({region("pool.m", 1), region("app::table.locks[]", 7)},
                {of_locks({variable("pool", 9, 1), variable("_ZN3app5tableE", 10, 0)})});
  EXPECT_EQ(names(file.sections), Names{"pool.m"});
  EXPECT_EQ(names(file.kept_locks), Names{"app::table.locks[]"});
}

TEST(Suggest, ProfileOfAVariableThatIsNoLocksSaysNothingOfOthers) {
  const ConversionFile file =
      suggested({region("Cache::mutex_", 1), region("a_lock", 7)},
                {of_locks({variable("cache", 9, 1), variable("a_lock", 10, 0)})});
  EXPECT_EQ(names(file.sections), Names{"Cache::mutex_"});
  EXPECT_EQ(names(file.kept_locks), Names{"a_lock"});
}

ProfileSection ran(std::uint64_t line, std::uint64_t commits) {
  ProfileSection section;
  section.file = "/x/server.c";
  section.line = line;
  section.starts = section.commits = commits;
  return section;
}

TEST(Suggest, SectionsThatDoNotPayStayLocks) {
  ProfileSection undone = ran(2, 60);
  undone.starts = 100;
  undone.aborts = {{"validation", 40, {}, {}}};
  ProfileSection alone = ran(3, 10);
  alone.serialisations = {{"irrevocable-call", 8, {}}};
  ProfileSection reads = ran(4, 10);
  reads.read_set.sum = 50000;
  reads.write_set.sum = 30;
  ProfileSection writes = ran(5, 10);
  writes.read_set.sum = writes.write_set.sum = 50000;
  Profile profile;
  profile.sections = {ran(1, 100), undone, alone, reads, writes};
  const ConversionFile file = suggested({region("good", 1), region("undone", 2), region("alone", 3),
                                         region("reads", 4), region("writes", 5)},
                                        {profile});
  EXPECT_EQ(names(file.sections), (Names{"good", "writes"}));
  ASSERT_EQ(names(file.kept_locks), (Names{"alone", "reads", "undone"}));
  EXPECT_EQ(file.kept_locks[0].reason,
            "as a section it runs by itself: 80 % of 10 times in the profile");
  EXPECT_EQ(file.kept_locks[1].reason,
            "long, and reads mostly: 5000 reads and 3 writes each time in the profile");
  EXPECT_EQ(file.kept_locks[2].reason,
            "as a section it is undone: 40 % of 100 attempts in the profile");
}

TEST(Suggest, NothingToConvertIsAnError) {
  Report report;
  report.sections = {calling(region("a_lock", 1), "sleep")};
  const Result<std::string> text = suggest_conversion(report, "", {});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message,
            "no lock would be better as a section; the first, 'a_lock': held across sleep (in the "
            "region at ./server.c:1); 1 of 1 regions are like that");
  EXPECT_EQ(suggest_conversion({}, "", {}).error().message,
            "the program has no lock with a region that is understood");
}

TEST(Suggest, NothingThatPaysIsAnError) {
  Report report;
  report.sections = {region("a_lock", 1)};
  const Result<std::string> text =
      suggest_conversion(report, "", {of_locks({variable("a_lock", 7, 0)})});
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().message, "no lock would be better as a section; the first, 'a_lock': "
                                  "never waited for: acquired 7 times in the profile");
}

} // namespace
} // namespace tandem
