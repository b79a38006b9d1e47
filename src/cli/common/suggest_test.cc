// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/common/suggest.h"

#include <gmock/gmock.h>

namespace tandem {
namespace {

TEST(EditDistance, CountsSingleEdits) {
  EXPECT_EQ(edit_distance("", ""), 0u);
  EXPECT_EQ(edit_distance("", "abc"), 3u);
  EXPECT_EQ(edit_distance("abc", ""), 3u);
  EXPECT_EQ(edit_distance("analyze", "analyse"), 1u);
  EXPECT_EQ(edit_distance("anaylze", "analyze"), 1u); // a swap of neighbours
  EXPECT_EQ(edit_distance("kitten", "sitting"), 3u);
}

TEST(EditDistance, IsSymmetric) {
  for (const char *left : {"report", "sweep", "a", ""})
    for (const char *right : {"rewrite", "port", "b"})
      EXPECT_EQ(edit_distance(left, right), edit_distance(right, left)) << left << " " << right;
}

TEST(Nearest, FindsWhatWasMeant) {
  const std::vector<std::string> known = {"analyze", "bench", "report", "rewrite"};
  EXPECT_EQ(nearest("anlayze", known), "analyze");
  EXPECT_EQ(nearest("analyse", known), "analyze");
  EXPECT_EQ(nearest("rep", known), "report"); // the beginning of one
  EXPECT_EQ(nearest("benhc", known), "bench");
}

TEST(Nearest, KeepsQuietWhereNothingIsNear) {
  const std::vector<std::string> known = {"analyze", "bench"};
  EXPECT_EQ(nearest("xyzzy", known), "");
  EXPECT_EQ(nearest("", known), "");
  EXPECT_EQ(nearest("a", {}), "");
}

} // namespace
} // namespace tandem
