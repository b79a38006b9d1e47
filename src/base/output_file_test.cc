// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/output_file.h"

#include "base/file.h"

#include <cerrno>
#include <fcntl.h>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace tandem {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

constexpr uid_t kNobody = 65534;
constexpr uid_t kOther = 65533;

class Output : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fs::path(testing::TempDir()) /
              fmt::format("tandem-output-test-{}-{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  void TearDown() override { fs::remove_all(folder_); }
  std::string path(const std::string &name) const { return (folder_ / name).string(); }
  std::size_t files() const {
    return static_cast<std::size_t>(
        std::distance(fs::directory_iterator(folder_), fs::directory_iterator()));
  }
  static int find(const std::string &path) {
    OutputFile file;
    return file.find(path.c_str());
  }
  // Everybody's, as /tmp is.
  void make_everybodys(const std::string &name) const {
    fs::create_directory(path(name));
    ASSERT_EQ(::chmod(path(name).c_str(), 01777), 0);
  }
  void link(const std::string &to, const std::string &name, uid_t owner) const {
    fs::create_symlink(to, path(name));
    ASSERT_EQ(::lchown(path(name).c_str(), owner, owner), 0);
  }
  fs::path folder_;
};

TEST_F(Output, AppearsAsAWhole) {
  OutputFile file;
  ASSERT_EQ(file.find(path("x").c_str()), 0);
  EXPECT_FALSE(file.exists());
  ASSERT_EQ(file.begin(false), 0);
  ASSERT_EQ(::write(file.descriptor(), "ab", 2), 2);
  EXPECT_FALSE(fs::exists(path("x")));
  ASSERT_EQ(file.commit(), 0);
  EXPECT_EQ(read_file(path("x")).value(), "ab");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Output, IsForgottenWithoutACommit) {
  std::ofstream(path("x")) << "old";
  {
    OutputFile file;
    ASSERT_EQ(file.find(path("x").c_str()), 0);
    ASSERT_EQ(file.begin(false), 0);
    ASSERT_EQ(::write(file.descriptor(), "new", 3), 3);
  }
  EXPECT_EQ(read_file(path("x")).value(), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Output, LeavesALinkAndReplacesWhatItLeadsTo) {
  fs::create_directory(path("deep"));
  std::ofstream(path("deep/real")) << "old";
  fs::create_symlink("deep/../deep/real", path("one"));
  fs::create_symlink(path("one"), path("two"));
  ASSERT_TRUE(write_file(path("two"), "new"));
  EXPECT_TRUE(fs::is_symlink(path("two")));
  EXPECT_TRUE(fs::is_symlink(path("one")));
  EXPECT_EQ(read_file(path("deep/real")).value(), "new");
}

TEST_F(Output, SaysWhyNot) {
  fs::create_symlink("loop", path("loop"));
  EXPECT_EQ(find(path("loop")), ELOOP);
  EXPECT_EQ(find(path("absent/x")), ENOENT);
  EXPECT_EQ(find(path(".")), EISDIR);
  EXPECT_EQ(find(path("x/")), ENOENT);
  EXPECT_EQ(find(""), ENOENT);
  EXPECT_EQ(find(path(std::string(300, 'x'))), ENAMETOOLONG);
  EXPECT_EQ(find(std::string(5000, 'x')), ENAMETOOLONG);
}

TEST_F(Output, OfALongNameIsWritten) {
  ASSERT_TRUE(write_file(path(std::string(NAME_MAX, 'x')), "content"));
}

TEST_F(Output, IsAppendedToWhatIsOpenAlready) {
  const int number = ::open(path("x").c_str(), O_WRONLY | O_CREAT, 0600);
  ASSERT_GE(number, 0);
  ASSERT_EQ(::write(number, "a", 1), 1);
  ASSERT_TRUE(write_file(fmt::format("/dev/fd/{}", number), "b"));
  ASSERT_TRUE(write_file(fmt::format("/proc/self/fd/{}", number), "c"));
  ::close(number);
  EXPECT_EQ(read_file(path("x")).value(), "abc");
  EXPECT_FALSE(write_file(fmt::format("/dev/fd/{}", number), "b"));
}

TEST_F(Output, GoesThroughFoldersOfProc) {
  fs::create_symlink("/proc/self/root" + folder_.string(), path("way"));
  ASSERT_TRUE(write_file(path("way/x"), "content"));
  EXPECT_EQ(read_file(path("x")).value(), "content");
}

TEST_F(Output, FollowsNoLinkOfAnotherInAFolderOfEverybody) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "makes links of other users, which takes root";
  make_everybodys("tmp");
  std::ofstream(path("mine")) << "mine";
  link("../mine", "tmp/evil", kNobody);
  link("../absent", "tmp/evil-new", kNobody);
  link("..", "tmp/evil-folder", kNobody);
  link("../mine", "tmp/own", 0);
  for (const char *name : {"tmp/evil", "tmp/evil-new", "tmp/evil-folder/mine"}) {
    EXPECT_EQ(find(path(name)), kForeignLink) << name;
    EXPECT_THAT(write_file(path(name), "x").error().message, HasSubstr("a link of another user"));
  }
  fs::create_symlink("tmp/evil", path("own-to-evil"));
  EXPECT_EQ(find(path("own-to-evil")), kForeignLink);
  EXPECT_EQ(read_file(path("mine")).value(), "mine");
  EXPECT_FALSE(fs::exists(path("absent")));
  ASSERT_TRUE(write_file(path("tmp/own"), "changed"));
  EXPECT_EQ(read_file(path("mine")).value(), "changed");
  // Of the folder's owner; and where not everybody can put one.
  ASSERT_EQ(::chown(path("tmp").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(find(path("tmp/evil")), 0);
  EXPECT_EQ(find(path("tmp/own")), 0);
  ASSERT_EQ(::chown(path("tmp").c_str(), kOther, kOther), 0);
  EXPECT_EQ(find(path("tmp/evil")), kForeignLink);
  ASSERT_EQ(::chmod(path("tmp").c_str(), 0755), 0);
  EXPECT_EQ(find(path("tmp/evil")), 0);
}

TEST_F(Output, IsNoPipeOfAnotherInAFolderOfEverybody) {
  if (::geteuid() != 0)
    GTEST_SKIP() << "makes pipes of other users, which takes root";
  make_everybodys("tmp");
  ASSERT_EQ(::mkfifo(path("tmp/pipe").c_str(), 0666), 0);
  EXPECT_EQ(find(path("tmp/pipe")), 0);
  ASSERT_EQ(::chown(path("tmp/pipe").c_str(), kNobody, kNobody), 0);
  EXPECT_EQ(find(path("tmp/pipe")), kForeignFile);
}

// The status of a child that runs `action`.
template <class Action> int status_of(Action action) {
  const pid_t child = ::fork();
  if (child == 0) {
    action();
    ::_exit(0);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return status;
}

TEST_F(Output, BeyondTheLimitOfFilesIsAnErrorAndLeavesNothing) {
  std::ofstream(path("x")) << "old";
  const int status = status_of([&] {
    const rlimit limit{4096, 4096};
    ::setrlimit(RLIMIT_FSIZE, &limit);
    const Status written = write_file(path("x"), std::string(10'000, 'x'));
    ::_exit(!written && written.error().message.ends_with("File too large") ? 3 : 4);
  });
  ASSERT_TRUE(WIFEXITED(status)) << "signal " << WTERMSIG(status);
  EXPECT_EQ(WEXITSTATUS(status), 3);
  EXPECT_EQ(read_file(path("x")).value(), "old");
  EXPECT_EQ(files(), 1U);
}

TEST_F(Output, LeavesNothingWhenTheProcessIsKilled) {
  const int status = status_of([&] {
    OutputFile file;
    if (file.find(path("x").c_str()) == 0 && file.begin(false) == 0)
      ::raise(SIGKILL);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(files(), 0U); // the file systems that tests run on have files without names
}

TEST(HeldSignals, AreDeliveredAfterwardsButForOwnOnes) {
  const int status = status_of([] {
    {
      const SignalsHeld held{SIGTERM, SIGXFSZ};
      ::raise(SIGXFSZ);
      ::raise(SIGTERM);
    }
    ::_exit(1);
  });
  ASSERT_TRUE(WIFSIGNALED(status));
  EXPECT_EQ(WTERMSIG(status), SIGTERM);
}

TEST_F(Output, OfSeveralAreDifferentFilesAndNoInput) {
  std::ofstream(path("in")) << "in";
  fs::create_symlink("in", path("link"));
  fs::create_hard_link(path("in"), path("hard"));
  for (const char *name : {"in", "link", "hard"}) {
    const Status refused = check_outputs({path("out"), path(name)}, {path("in")});
    ASSERT_FALSE(refused) << name;
    EXPECT_THAT(refused.error().message, HasSubstr("is an input, and would be overwritten"));
  }
  EXPECT_TRUE(check_outputs({path("out"), "-", ""}, {path("in"), path("gone"), "-", ""}));
  EXPECT_FALSE(check_outputs({"-", "-"}, {}));
  EXPECT_TRUE(check_outputs({"/dev/null", "/dev/null"}, {"/dev/null"}));
  fs::create_symlink("out", path("to-out"));
  const std::string around = "../" + folder_.filename().string() + "/out";
  for (const std::string &same :
       {std::string("out"), std::string("./out"), around, std::string("to-out")})
    EXPECT_FALSE(check_outputs({path("out"), path(same)}, {})) << same;
  EXPECT_FALSE(fs::exists(path("out")));
}

} // namespace
} // namespace tandem
