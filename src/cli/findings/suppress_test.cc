// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/suppress.h"

#include "base/file.h"

#include <filesystem>
#include <gmock/gmock.h>
#include <unistd.h>

namespace tandem {
namespace {

using testing::HasSubstr;

class Suppress : public testing::Test {
protected:
  Suppress() : folder_(fmt::format("{}suppress_test.{}", testing::TempDir(), ::getpid())) {
    std::filesystem::create_directories(folder_);
  }
  ~Suppress() override { std::filesystem::remove_all(folder_); }

  std::string write(const std::string &name, const std::string &text) {
    const std::string path = folder_ + "/" + name;
    EXPECT_TRUE(write_file(path, text).ok());
    return path;
  }
  std::string error_of(const std::string &text) {
    const std::string path = write("s.toml", text);
    const auto file = load_suppressions(path);
    return file ? "no error" : file.error().message.substr(folder_.size() + 1);
  }
  std::vector<JudgedFinding> judged(const std::string &entries) {
    const auto file = load_suppressions(write("s.toml", entries));
    EXPECT_TRUE(file.ok());
    SourceFiles sources({folder_});
    return judge(report(), {*file}, sources);
  }
  static Report report() {
    Report report;
    report.findings = {
        {"lock-order", "src/a.c", 2, "m", {}, "f", "f_1"},
        {"lock-order", "src/b.c", 2, "m", {}, "g", "g_1"},
        {"rapid-relock", "src/b.c", 2, "m", {}, "g", "g_1"},
    };
    return report;
  }

  std::string folder_;
};

TEST_F(Suppress, EntriesMatchByRuleFileFunctionAndSection) {
  const auto open = [&](const std::string &fields) {
    return count_open(judged("[[suppress]]\nreason = \"r\"\n" + fields));
  };
  EXPECT_EQ(open("rule = \"lock-order\"\n"), 1u);
  EXPECT_EQ(open("rule = \"lock-order\"\nfile = \"*/b.c\"\n"), 2u);
  EXPECT_EQ(open("rule = \"lock-order\"\nfunction = \"f\"\n"), 2u);
  EXPECT_EQ(open("rule = \"lock-order\"\nsection = \"g_1\"\nfile = \"src/?.c\"\n"), 2u);
  EXPECT_EQ(open("rule = \"lock-order\"\nsection = \"g_1\"\nfile = \"src/a.c\"\n"), 4u); // unused
}

TEST_F(Suppress, WhatSuppressesNothingIsFound) {
  std::filesystem::create_directories(folder_ + "/src");
  write("src/a.c", "int a;\nint b; // tandem: allow(rapid-relock)\n// tandem: allow(lock-oder)\n");
  write("src/b.c", "int a;\nint b; // tandem: allow(rapid-relock, lock-order): both\n");
  SourceFiles sources({"/nonexistent", folder_});
  const auto findings = judge(report(), {}, sources);
  ASSERT_EQ(findings.size(), 5u);
  EXPECT_EQ(findings[0].finding.rule, "lock-order");
  EXPECT_FALSE(findings[0].suppression);
  EXPECT_EQ(findings[1].finding.rule, "unused-suppression");
  EXPECT_EQ(findings[1].finding.line, 2u);
  EXPECT_EQ(findings[1].finding.message, "there is no finding of 'rapid-relock' here to suppress");
  EXPECT_EQ(findings[2].finding.message, "'lock-oder' is no rule; did you mean 'lock-order'?");
  ASSERT_TRUE(findings[3].suppression && findings[4].suppression);
  EXPECT_TRUE(findings[3].suppression->in_source);
  EXPECT_EQ(findings[3].suppression->reason, "both");
  EXPECT_EQ(findings[3].suppression->place, "src/b.c:2");
  EXPECT_EQ(count_open(findings), 3u);
  EXPECT_EQ(count_open(findings, {"lock-order"}), 1u);
}

TEST_F(Suppress, MistakesOfFiles) {
  EXPECT_EQ(error_of("[[suppress]]\nrule = \"lock-order\"\n"),
            "s.toml:1: 'reason' is missing: say why this finding is acceptable");
  EXPECT_EQ(error_of("[[suppress]]\nreason = \"r\"\n"), "s.toml:1: 'rule' is missing");
  EXPECT_EQ(error_of("[[suppress]]\nrule = \"lock-oder\"\n"),
            "s.toml:2: 'lock-oder' is no rule; did you mean 'lock-order'?");
  EXPECT_EQ(error_of("[[suppress]]\nrule = \"lock-order,rapid-relock\"\n"),
            "s.toml:2: 'lock-order,rapid-relock' is several rules; write an entry for each");
  EXPECT_EQ(error_of("[[suppress]]\nrule = 3\n"), "s.toml:2: 'rule' must be a string");
  EXPECT_EQ(error_of("[[suppress]]\nline = 3\n"),
            "s.toml:2: unknown field 'line'; use rule, file, function, section, reason");
  EXPECT_EQ(error_of("suppress = 3\n"),
            "s.toml:1: unknown 'suppress'; write entries that begin with [[suppress]]");
  EXPECT_EQ(error_of("suppress = [3]\n"), "s.toml:1: must be a table: [[suppress]]");
  EXPECT_THAT(error_of("[[suppress]\n"), HasSubstr("s.toml:1:12: not TOML: "));
  EXPECT_THAT(load_suppressions(folder_ + "/none").error().message, HasSubstr("cannot be read"));
}

TEST(ParseRules, KnowsItsNames) {
  EXPECT_EQ(parse_rules("lock-order,rapid-relock")->size(), 2u);
  EXPECT_EQ(parse_rules("lock-oder").error().message,
            "'lock-oder' is no rule; did you mean 'lock-order'?");
  EXPECT_FALSE(parse_rules("").ok());
}

TEST_F(Suppress, SourcesThatAreNoText) {
  write("zero.c", std::string("int\0a;", 6));
  SourceFiles sources({folder_});
  EXPECT_TRUE(sources.lines("zero.c").empty());
  EXPECT_TRUE(sources.lines("none.c").empty());
  EXPECT_TRUE(sources.lines(".").empty());
  EXPECT_TRUE(sources.lines("").empty());
  write("dos.c", "a\r\n\r\nb");
  EXPECT_THAT(sources.lines("dos.c"), testing::ElementsAre("a", "", "b"));
}

} // namespace
} // namespace tandem
