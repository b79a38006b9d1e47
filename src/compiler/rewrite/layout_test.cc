// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/rewrite/layout.h"

#include <gtest/gtest.h>

namespace tandem::rewrite {
namespace {

Source source_of(const std::string &text) {
  Source source;
  source.text = text;
  return source;
}

TEST(Layout, ReplacesPiecesAndKeepsTheRest) {
  const Source source = source_of("one two three");
  EXPECT_EQ(replace_pieces(source, {0, 13}, {{{8, 13}, "3"}, {{0, 3}, "1"}, {{4, 4}, "+"}}, ""),
            "1 +two 3");
  EXPECT_EQ(replace_pieces(source, {4, 8}, {}, ""), "two ");
}

TEST(Layout, InsertionsAtOnePlaceKeepTheirOrder) {
  EXPECT_EQ(replace_pieces(source_of("x"), {0, 1}, {{{0, 0}, "a"}, {{0, 0}, "b"}}, ""), "abx");
}

TEST(Layout, MovesLinesButNotThoseOfStrings) {
  Source source = source_of("a\nb\n\n\"c\\\nd\"\ne");
  source.strings = {{5, 11}};
  EXPECT_EQ(replace_pieces(source, {0, 13}, {}, "  "), "a\n  b\n\n  \"c\\\nd\"\n  e");
}

TEST(Layout, LinesOfACompoundStatement) {
  EXPECT_EQ(as_lines(" x; ", "    "), "    x;\n");
  EXPECT_EQ(as_lines("\n  x;\n  y;\n", "    "), "  x;\n  y;\n");
  EXPECT_EQ(as_lines(" // why\n  x;\n", "  "), "  // why\n  x;\n");
  EXPECT_EQ(as_lines(" \n ", "  "), "");
}

TEST(Layout, Indentation) {
  const std::string text = "a\n \tb\n";
  EXPECT_EQ(indentation_at(text, 4), " \t");
  EXPECT_EQ(indentation_at(text, 0), "");
}

} // namespace
} // namespace tandem::rewrite
