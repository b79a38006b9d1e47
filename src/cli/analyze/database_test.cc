// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/database.h"

#include "base/file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

namespace tandem {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Database : public testing::Test {
protected:
  Database() : folder_(fmt::format("{}database_test.{}", testing::TempDir(), ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Database() override { std::filesystem::remove_all(folder_); }

  Result<std::vector<CompileUnit>> load(const std::string &text,
                                        const std::vector<std::string> &sources = {}) {
    EXPECT_TRUE(write_file(folder_ + "/compile_commands.json", text).ok());
    Result<std::vector<CompileUnit>> all = read_database(folder_);
    return all ? first_of_each_file(folder_, std::move(*all), sources) : std::move(all);
  }
  std::string error_of(const std::string &text) {
    const auto units = load(text);
    return units ? "no error" : units.error().message.substr(folder_.size() + 1);
  }

  std::string folder_;
};

TEST_F(Database, TakesTheCompilerTheSourceAndTheOutputAway) {
  const auto units = load(R"([
    {"directory": "/b", "file": "../s/a.c",
     "command": "ccache /usr/bin/gcc -DX=\"1 2\" -O2 -MD -MF a.d -MT a.o -flto=4 -o a.o -c /s/a.c -I."},
    {"directory": "/b", "file": "a.cc", "arguments": ["clang", "-oa.o", "-MMD", "-c", "--", "a.cc"]},
    {"directory": "/b", "file": "x.c", "arguments": ["g++", "x.c"]}])");
  ASSERT_TRUE(units.ok()) << units.error().message;
  ASSERT_EQ(units->size(), 3u);
  EXPECT_EQ((*units)[0].source, "../s/a.c");
  EXPECT_EQ((*units)[0].folder, "/b");
  EXPECT_FALSE((*units)[0].cxx);
  EXPECT_THAT((*units)[0].flags, ElementsAre("-DX=1 2", "-O2", "-I."));
  EXPECT_TRUE((*units)[1].cxx);
  EXPECT_THAT((*units)[1].flags, ElementsAre());
  EXPECT_TRUE((*units)[2].cxx); // a C file that the C++ compiler gets
}

TEST_F(Database, EveryFileOnceAndOnlyCAndCxx) {
  const auto units = load(R"([
    {"directory": "/b", "file": "/b/a.c", "command": "cc -DFIRST a.c"},
    {"directory": "/", "file": "b/a.c", "command": "cc -DSECOND b/a.c"},
    {"directory": "/b", "file": "a.S", "command": "cc a.S"}])");
  ASSERT_TRUE(units.ok());
  ASSERT_EQ(units->size(), 1u);
  EXPECT_THAT(units->front().flags, ElementsAre("-DFIRST"));
}

TEST_F(Database, OnlyTheFilesThatAreNamed) {
  const std::string text = R"([{"directory": ".", "file": "a.c", "command": "cc a.c"},
                               {"directory": ".", "file": "b.c", "command": "cc b.c"}])";
  const auto one = load(text, {folder_ + "/x/../b.c", folder_ + "/b.c"});
  ASSERT_TRUE(one.ok()) << one.error().message;
  ASSERT_EQ(one->size(), 1u);
  EXPECT_EQ(one->front().source, "b.c");
  EXPECT_EQ(load(text, {"c.c"}).error().message,
            fmt::format("c.c: not in {}/compile_commands.json", folder_));
}

TEST_F(Database, Mistakes) {
  const std::string name = "compile_commands.json: ";
  EXPECT_THAT(error_of("[1,"),
              HasSubstr("compile_commands.json:1:4: not JSON: unexpected end of input"));
  EXPECT_EQ(error_of("{}"), name + "/: must be a list, not object");
  EXPECT_EQ(error_of("[]"), name + "names no C or C++ file");
  EXPECT_EQ(error_of("[3]"), name + "/0: must be an object");
  EXPECT_EQ(error_of(R"([{"directory": "/"}])"), name + "/0/file: is missing");
  EXPECT_EQ(error_of(R"([{"file": "a.c", "directory": 3}])"),
            name + "/0/directory: must be a string");
  EXPECT_EQ(error_of(R"([{"file": "a.c", "directory": "/"}])"), name + "/0/command: is missing");
  EXPECT_EQ(error_of(R"([{"file": "a.c", "directory": "/", "arguments": [3]}])"),
            name + "/0/arguments: must be a list of strings");
  EXPECT_THAT(read_database("/nonexistent/x.json").error().message, HasSubstr("cannot be read"));
}

TEST(SplitCommand, AsAShellDoes) {
  EXPECT_THAT(split_command(R"(cc  -DA="b c" -D'E=\"f\"' -DG=\"h\ i\" "a\"b\n" '' x)"),
              ElementsAre("cc", "-DA=b c", R"(-DE=\"f\")", R"(-DG="h i")", R"(a"b\n)", "", "x"));
  EXPECT_THAT(split_command("a 'b c"), ElementsAre("a", "b c"));
  EXPECT_THAT(split_command(""), ElementsAre());
}

} // namespace
} // namespace tandem
