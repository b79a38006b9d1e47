// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/program.h"

#include "base/version.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

struct Outcome {
  std::optional<int> status;
  std::string out;
  std::string err;
};

// A program with one option of each sort.
struct Sample {
  Program program{"sample", "does nothing much"};
  std::vector<std::string> files;
  std::string json;
  std::string colour = "red";
  bool loud = false;

  Sample() {
    program.keep_rest();
    program.app().add_option("FILES", files, "what to do it to")->type_name("FILE");
    program.add_json(json, "write everything as JSON");
    program.app()
        .add_option("--colour", colour, "red, or green")
        ->type_name("NAME")
        ->check(checked_by([](const std::string &text) -> Status {
          if (text == "red" || text == "green")
            return Unit{};
          return Error{"'" + text + "' is no colour"};
        }));
    program.add_flag("--loud", loud,
                     "an explanation that is so long that it does not fit into one line of eighty "
                     "columns");
  }

  Outcome parse(std::vector<const char *> words) {
    words.insert(words.begin(), "tandem-sample");
    testing::internal::CaptureStdout();
    testing::internal::CaptureStderr();
    Outcome outcome;
    outcome.status = program.parse(static_cast<int>(words.size()), words.data());
    outcome.out = testing::internal::GetCapturedStdout();
    outcome.err = testing::internal::GetCapturedStderr();
    return outcome;
  }
};

TEST(Program, ReadsTheCommandLine) {
  Sample sample;
  const Outcome outcome = sample.parse({"a", "--json", "-", "b", "--loud", "--", "-c", "--help"});
  EXPECT_EQ(outcome.status, std::nullopt) << outcome.err;
  EXPECT_THAT(sample.files, testing::ElementsAre("a", "b"));
  EXPECT_EQ(sample.json, "-");
  EXPECT_TRUE(sample.loud);
  EXPECT_THAT(sample.program.rest(), testing::ElementsAre("-c", "--help"));
}

TEST(Program, PrintsHelpVersionAndSummary) {
  const Outcome help = Sample().parse({"--nonsense", "--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_EQ(help.out,
            "tandem sample: does nothing much\n"
            "\n"
            "Usage: tandem sample [OPTIONS] FILES...\n"
            "\n"
            "Arguments:\n"
            "  FILES...                what to do it to\n"
            "\n"
            "Options:\n"
            "  --json FILE             write everything as JSON; - is standard output\n"
            "  --colour NAME           red, or green\n"
            "  --loud                  an explanation that is so long that it does not fit\n"
            "                          into one line of eighty columns\n"
            "  --color WHEN            auto: on a terminal; always; never\n"
            "  --quiet                 no progress on standard error\n"
            "  -h, --help              print this text\n"
            "  --version               print the version\n");
  EXPECT_EQ(Sample().parse({"--summary"}).out, "does nothing much\n");
  EXPECT_EQ(Sample().parse({"--version"}).out,
            "tandem sample " + std::string(version_text()) + "\n");
}

TEST(Program, ExplainsMistakesInOneLine) {
  const std::vector<std::pair<std::vector<const char *>, std::string>> cases = {
      {{"--colr", "red"}, "unknown option '--colr'; did you mean '--color'?"},
      {{"--zzz"}, "unknown option '--zzz'; see tandem sample --help"},
      {{"--zzz=4"}, "unknown option '--zzz'; see tandem sample --help"},
      {{"-x"}, "unknown option '-x'; see tandem sample --help"},
      {{"--json"}, "--json needs a value: --json FILE"},
      {{"--colour", "blue"}, "--colour: 'blue' is no colour"},
      {{"--color", "blue"}, "--color: 'blue' is none of auto, always and never"},
      {{"--loud=7x"}, "--loud takes no value"},
  };
  for (const auto &[words, message] : cases) {
    const Outcome outcome = Sample().parse(words);
    EXPECT_EQ(outcome.status, kUsageStatus);
    EXPECT_EQ(outcome.out, "");
    EXPECT_EQ(outcome.err, "tandem sample: " + message + "\n");
  }
}

TEST(Program, MessagesCannotWriteToTheTerminal) {
  const Outcome outcome = Sample().parse({"--\033[2J"});
  EXPECT_THAT(outcome.err, testing::HasSubstr("\\x1b[2J"));
}

} // namespace
} // namespace tandem
