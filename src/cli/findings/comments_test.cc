// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/findings/comments.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

using testing::ElementsAre;

TEST(AllowComments, BehindCodeAndAboveIt) {
  const auto found = allow_comments({
      "int a; // tandem: allow(lock-order): as ever",
      "  /* tandem: allow( lock-order , rapid-relock ) : two  */",
      "",
      "// something else",
      "// tandem:allow(volatile-reread)",
      "int b;",
      "int c; /* tandem: allow(lock-order) */ int d; // tandem: allow(rapid-relock)",
      "// tandem: allow(lock-order): at the end of the file",
  });
  ASSERT_EQ(found.size(), 6u);
  EXPECT_EQ(found[0].about, 1u);
  EXPECT_EQ(found[0].reason, "as ever");
  EXPECT_THAT(found[0].rules, ElementsAre("lock-order"));
  EXPECT_THAT(found[1].rules, ElementsAre("lock-order", "rapid-relock"));
  EXPECT_EQ(found[1].line, 2u);
  EXPECT_EQ(found[1].about, 6u);
  EXPECT_EQ(found[1].reason, "two");
  EXPECT_EQ(found[2].line, 5u);
  EXPECT_EQ(found[2].about, 6u);
  EXPECT_EQ(found[2].reason, "");
  EXPECT_EQ(found[3].about, 7u);
  EXPECT_EQ(found[4].about, 7u);
  EXPECT_EQ(found[5].about, 0u); // nothing comes after it
}

TEST(AllowComments, OnlyInComments) {
  EXPECT_TRUE(allow_comments({R"x(puts("// tandem: allow(lock-order)");)x"}).empty());
  EXPECT_TRUE(allow_comments({R"x(puts("\"// tandem: allow(lock-order)");)x"}).empty());
  EXPECT_TRUE(
      allow_comments({"// tandem: allow", "// tandem: allow(x", "// Tandem: allow(x)"}).empty());
  EXPECT_EQ(allow_comments({R"x(char c = '"'; // tandem: allow(x))x"}).size(), 1u);
  EXPECT_EQ(allow_comments({"long n = 1'000; // tandem: allow(x)"}).size(), 1u);
  const auto inside = allow_comments({"/* a comment", "   tandem: allow(x): here", "*/ int a;"});
  ASSERT_EQ(inside.size(), 1u);
  EXPECT_EQ(inside[0].about, 3u);
}

} // namespace
} // namespace tandem
