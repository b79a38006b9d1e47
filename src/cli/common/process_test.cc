// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/process.h"

#include "base/file.h"

#include <cstdlib>
#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::Optional;

Command shell(const std::string &script, const std::string &output) {
  return {.words = {"/bin/sh", "-c", script}, .unset = {}, .output = output};
}

void nothing() {}

TEST(PrivateFolder, IsPrivateAndGoesAway) {
  std::string path;
  {
    const Result<PrivateFolder> folder = PrivateFolder::make();
    ASSERT_TRUE(folder.ok()) << folder.error().message;
    path = folder->path();
    EXPECT_EQ(fs::status(path).permissions(), fs::perms::owner_all);
    ASSERT_TRUE(write_file(path + "/file", "x").ok());
    fs::create_directories(path + "/a/b");
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST(PrivateFolder, SaysWhereItCannotBe) {
  const char *before = std::getenv("TMPDIR");
  const std::string saved = before == nullptr ? "" : before;
  ::setenv("TMPDIR", "/nonexistent", 1);
  const Result<PrivateFolder> folder = PrivateFolder::make();
  saved.empty() ? ::unsetenv("TMPDIR") : ::setenv("TMPDIR", saved.c_str(), 1);
  ASSERT_FALSE(folder.ok());
  EXPECT_EQ(folder.error().message, "/nonexistent: no temporary folder can be made in it: No such "
                                    "file or directory; set TMPDIR");
}

class RunAll : public testing::Test {
protected:
  [[nodiscard]] std::string file(const std::string &name) const {
    return folder_->path() + "/" + name;
  }
  Result<PrivateFolder> folder_ = PrivateFolder::make();
};

TEST_F(RunAll, KeepsOutputAndStatusApart) {
  EndSignals signals;
  int finished = 0;
  const auto statuses = run_all({shell("echo out; echo err >&2", file("1")),
                                 shell("echo two", file("2")), shell("cat", file("3"))},
                                2, signals, [&] { ++finished; });
  ASSERT_TRUE(statuses.ok());
  EXPECT_THAT(*statuses, ElementsAre(Optional(0), Optional(0), Optional(0)));
  EXPECT_EQ(*read_file(file("1")), "out\nerr\n");
  EXPECT_EQ(*read_file(file("2")), "two\n");
  EXPECT_EQ(*read_file(file("3")), ""); // standard input is empty
  EXPECT_EQ(finished, 3);
}

TEST_F(RunAll, StartsNoMoreAfterAFailure) {
  EndSignals signals;
  const auto statuses =
      run_all({shell("exit 0", file("1")), shell("exit 3", file("2")), shell("exit 0", file("3"))},
              1, signals, nothing);
  ASSERT_TRUE(statuses.ok());
  EXPECT_THAT(*statuses, ElementsAre(Optional(0), Optional(3), testing::Eq(std::nullopt)));
  EXPECT_FALSE(fs::exists(file("3")));
}

TEST_F(RunAll, ASignalThatEndsAChildIsItsStatus) {
  EndSignals signals;
  const auto statuses = run_all({shell("kill -KILL $$", file("1"))}, 1, signals, nothing);
  ASSERT_TRUE(statuses.ok());
  EXPECT_THAT(*statuses, ElementsAre(Optional(128 + SIGKILL)));
}

TEST_F(RunAll, TakesVariablesAway) {
  ::setenv("TANDEM_TEST_VARIABLE", "x", 1);
  EndSignals signals;
  Command command = shell("echo \"[$TANDEM_TEST_VARIABLE]\"", file("1"));
  command.unset = {"TANDEM_TEST_VARIABLE"};
  ASSERT_TRUE(run_all({command}, 1, signals, nothing).ok());
  EXPECT_EQ(*read_file(file("1")), "[]\n");
}

TEST_F(RunAll, AProgramThatIsMissingIsAnError) {
  EndSignals signals;
  const auto statuses = run_all({shell("sleep 60", file("1")),
                                 {.words = {"/nonexistent/cc"}, .unset = {}, .output = file("2")}},
                                2, signals, nothing);
  ASSERT_FALSE(statuses.ok());
  EXPECT_EQ(statuses.error().message, "/nonexistent/cc: cannot be run: No such file or directory");
}

// A program that is asked to end while it waits ends its children, cleans up, and then ends by that
// signal.
TEST_F(RunAll, ASignalEndsTheChildrenThenTakesEffect) {
  const std::string note = file("folder");
  const auto body = [&] {
    EndSignals signals;
    const Result<PrivateFolder> inner = PrivateFolder::make();
    (void)write_file(note, inner->path());
    const std::string parent = std::to_string(::getpid());
    (void)run_all({shell("kill -TERM " + parent + "; exec sleep 1000", inner->path() + "/log")}, 1,
                  signals, nothing);
  };
  EXPECT_EXIT(
      {
        body();
        std::exit(0);
      },
      testing::KilledBySignal(SIGTERM), "");
  EXPECT_FALSE(fs::exists(*read_file(note)));
}

} // namespace
} // namespace tandem
