// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/printable.h"

#include "base/characters.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Printable, LeavesTextAsItIs) {
  EXPECT_EQ(printable("a b\\n"), "a b\\n");
  EXPECT_EQ(printable("grün 語 \U0001f600"), "grün 語 \U0001f600");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, WritesOutWhatATerminalObeys) {
  EXPECT_EQ(printable("a\x1b[2J\x07"), "a\\x1b[2J\\x07");
  EXPECT_EQ(printable("a\nb\tc\rd"), "a\\nb\\tc\\rd");
  EXPECT_EQ(printable(std::string_view("\0\x7f", 2)), "\\x00\\x7f");
  EXPECT_EQ(printable("\u009b31m"), "\\u009b31m");
}

TEST(Printable, WritesOutWhatMakesLinesReadOtherwise) {
  EXPECT_EQ(printable("a\u202eb\u2066c\u200fd\u061ce\u2028f"),
            "a\\u202eb\\u2066c\\u200fd\\u061ce\\u2028f");
}

TEST(Printable, WritesOutBytesThatAreNotUtf8) {
  EXPECT_EQ(printable("a\xff"), "a\\xff");
  EXPECT_EQ(printable("\xc0\x9b"), "\\xc0\\x9b");          // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80"); // a surrogate
  EXPECT_EQ(printable("\xe2\x80"), "\\xe2\\x80");          // cut off
}

TEST(Printable, KeepsTheLinesOfTextThatHasSome) {
  EXPECT_EQ(printable_lines("a\x1b\nb\n"), "a\\x1b\nb\n");
  EXPECT_EQ(printable_lines("a\n\nb"), "a\n\nb");
}

TEST(Printable, IsTextOfAPage) {
  EXPECT_EQ(markup("a<b> & \"c\"\n"), "a&lt;b&gt; &amp; &quot;c&quot;\\n");
}

TEST(Characters, AreNeverCut) {
  char out[8];
  EXPECT_EQ(copy_printable("abcd\x1b", out, sizeof out), 4U);
  EXPECT_STREQ(out, "abcd");
  EXPECT_EQ(copy_printable("abcde\u00fc", out, sizeof out), 7U);
  EXPECT_STREQ(out, "abcde\u00fc");
  EXPECT_EQ(copy_printable("abcdef\u00fc", out, sizeof out), 6U);
}

} // namespace
} // namespace tandem
