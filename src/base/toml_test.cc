// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/toml.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::StartsWith;

std::string error_of(std::string_view text) {
  const Result<toml::table> document = parse_toml(text, "f.toml");
  return document ? "" : document.error().message;
}

std::string many(std::string_view text, std::size_t times) {
  std::string all;
  for (std::size_t i = 0; i < times; ++i)
    all += text;
  return all;
}

TEST(Toml, ReadsADocument) {
  const Result<toml::table> document =
      parse_toml("[a.'b.c'] # [x.\nd = [1, {e = \"].[\"}]\nf = '''\n[[[ '''\n", "f.toml");
  ASSERT_TRUE(document) << document.error().message;
  EXPECT_EQ((*document)["a"]["b.c"]["d"][1]["e"].value_or(std::string()), "].[");
}

TEST(Toml, NamesThePlace) {
  EXPECT_THAT(error_of("a = 1\nb = \n"), StartsWith("f.toml:2:5: not TOML: "));
  EXPECT_THAT(error_of("a = \"\xff\"\n"), StartsWith("f.toml:1:"));
}

// toml++ 3.3 has assertions for these.
TEST(Toml, RefusesHeadersThatAreNone) {
  EXPECT_EQ(error_of("[$x]\n"), "f.toml:1:2: not TOML: a table's name cannot begin with '$'");
  EXPECT_EQ(error_of("a = 1\n [[ =x]]\n"),
            "f.toml:2:5: not TOML: a table's name cannot begin with '='");
  for (const char *text :
       {"[",       "[[",        "[]",     "[.x]",  "[x.]",        "[[x]",
        "[\x01]",  "[a.$]",     "[a.\n",  "$",     "a.$ = 1",     "a = {$ = 1}",
        "a = [$]", "a = $",     "[\xff]", "[\"",   "a.",          "a = 1__0",
        "a = 0x",  "a = 1979-", "a = 1e", "a = +", "a = \"\\u\"", "a = \"\\Uffffffff\""})
    EXPECT_THAT(error_of(text), StartsWith("f.toml:")) << text;
}

TEST(Toml, BoundsKeys) {
  EXPECT_EQ(error_of("a" + many(".a", kMostTomlDepth - 1) + " = 1"), "");
  EXPECT_EQ(error_of("b = 1\na" + many(".a", 100'000) + " = 1"),
            "f.toml:2:128: not TOML: a key of more than 64 parts");
  EXPECT_THAT(error_of("[a" + many(" . a", 100'000) + "]"),
              StartsWith("f.toml:1:256: not TOML: a key of more than 64 parts"));
  EXPECT_THAT(error_of("x = {a" + many(".\"a.\"", 100'000) + " = 1}"), StartsWith("f.toml:1:"));
}

TEST(Toml, BoundsBrackets) {
  EXPECT_EQ(error_of("a = " + many("[", kMostTomlDepth) + many("]", kMostTomlDepth)), "");
  EXPECT_EQ(error_of("a = " + many("[", 100'000)),
            "f.toml:1:69: not TOML: nested more than 64 deep");
  EXPECT_THAT(error_of("a = " + many("{a = [", 50'000)), StartsWith("f.toml:1:"));
}

TEST(Toml, BoundsSize) {
  EXPECT_EQ(error_of("#" + std::string(kMostTomlBytes - 1, 'x')), "");
  EXPECT_EQ(error_of("#" + std::string(kMostTomlBytes, 'x')),
            "f.toml: has more than 4194304 bytes, the most that a TOML file may have here");
  EXPECT_EQ(read_toml("/dev/zero").error().message,
            "/dev/zero: has more than 4194304 bytes, the most that is read here");
}

} // namespace
} // namespace tandem
