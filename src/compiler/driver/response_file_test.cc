// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/response_file.h"

#include "base/file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(ResponseFile, SplitsAsTheGnuToolsDo) {
  EXPECT_THAT(split_words(" a\tb\n c "), ElementsAre("a", "b", "c"));
  EXPECT_THAT(split_words("'a b' \"c d\"e"), ElementsAre("a b", "c de"));
  EXPECT_THAT(split_words(R"(a\ b "x\"y" 'p\'q')"), ElementsAre("a b", "x\"y", "p'q"));
  EXPECT_THAT(split_words("'' \"\""), ElementsAre("", ""));
  EXPECT_THAT(split_words(""), ElementsAre());
}

TEST(ResponseFile, JoinedWordsSplitIntoThemselves) {
  const std::vector<std::string> words = {"",    "a b",          "\"",        "\\",
                                          "'x'", "-DX=\"a\\b\"", "line\nline"};
  EXPECT_EQ(split_words(join_words(words)), words);
}

class ResponseFiles : public testing::Test {
protected:
  void SetUp() override {
    folder_ = fmt::format("{}tandem-response-file-test-{}", testing::TempDir(), ::getpid());
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }
  void write(const std::string &name, const std::string &text) {
    ASSERT_TRUE(write_file(folder_ + "/" + name, text));
  }
  std::string folder_;
};

TEST_F(ResponseFiles, FilesInFiles) {
  write("inner", "-O2 'a b.c'");
  write("outer", "-c @" + folder_ + "/inner -g");
  EXPECT_THAT(expand_response_files({"-v", "@" + folder_ + "/outer", "x"}).value(),
              ElementsAre("-v", "-c", "-O2", "a b.c", "-g", "x"));
}

TEST_F(ResponseFiles, WhatCannotBeReadIsLeftToClang) {
  EXPECT_THAT(expand_response_files({"@/nonexistent", "@", ""}).value(),
              ElementsAre("@/nonexistent", "@", ""));
}

TEST_F(ResponseFiles, ACycleIsAMistake) {
  write("loop", "@" + folder_ + "/loop");
  EXPECT_THAT(expand_response_files({"@" + folder_ + "/loop"}).error().message,
              HasSubstr("response files name each other without end"));
}

} // namespace
} // namespace tandem
