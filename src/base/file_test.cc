// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/file.h"

#include <filesystem>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tandem {
namespace {

class File : public testing::Test {
protected:
  void SetUp() override {
    folder_ = std::filesystem::path(testing::TempDir()) /
              fmt::format("tandem-file-test-{}-{}", ::getpid(),
                          testing::UnitTest::GetInstance()->current_test_info()->name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  std::string path(const char *name) const { return (folder_ / name).string(); }
  std::filesystem::path folder_;
};

TEST_F(File, ReadsBackWhatItWrote) {
  const std::string content("a\0b\n", 4);
  ASSERT_TRUE(write_file(path("x"), content));
  EXPECT_EQ(read_file(path("x")).value(), content);
  ASSERT_TRUE(write_file(path("x"), "shorter"));
  EXPECT_EQ(read_file(path("x")).value(), "shorter");
}

TEST_F(File, WritesPieceByPiece) {
  const auto pieces = [](const TakeText &take) {
    for (const char *piece : {"one ", "", "two"})
      take(piece);
  };
  ASSERT_TRUE(write_file(path("x"), pieces));
  EXPECT_EQ(read_file(path("x")).value(), "one two");
  EXPECT_EQ(write_file("/dev/full", pieces).error().message,
            "/dev/full: cannot be written: No space left on device");
}

TEST_F(File, LeavesNothingBesideTheFile) {
  ASSERT_TRUE(write_file(path("x"), "content"));
  std::size_t files = 0;
  for (const auto &entry : std::filesystem::directory_iterator(folder_)) {
    EXPECT_EQ(entry.path().filename(), "x");
    ++files;
  }
  EXPECT_EQ(files, 1u);
}

TEST_F(File, NamesThePlaceAndTheReason) {
  EXPECT_EQ(read_file(path("absent")).error().message,
            path("absent") + ": cannot be read: No such file or directory");
  EXPECT_EQ(write_file(path("absent/x"), "").error().message,
            path("absent/x") + ": cannot be written: No such file or directory");
  EXPECT_EQ(check_writable(folder_.string()).error().message,
            folder_.string() + ": cannot be written: Is a directory");
  EXPECT_FALSE(std::filesystem::exists(path("absent")));
}

TEST_F(File, WritesDevicesInPlace) { EXPECT_TRUE(write_file("/dev/null", "content")); }

} // namespace
} // namespace tandem
