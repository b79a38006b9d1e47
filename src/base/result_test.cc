// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/result.h"

#include <gtest/gtest.h>

namespace tandem {
namespace {

Result<int> half(int number) {
  if (number % 2 != 0)
    return Error{fmt::format("{}: is odd", number)};
  return number / 2;
}

TEST(Result, HoldsTheValueOrTheError) {
  EXPECT_EQ(half(4).value(), 2);
  EXPECT_FALSE(half(3));
  EXPECT_EQ(half(3).error().message, "3: is odd");
}

TEST(ResultDeathTest, ReadingTheWrongSideIsOurBug) {
  EXPECT_DEATH((void)half(3).value(), "internal error: ok\\(\\) does not hold: 3: is odd");
  EXPECT_DEATH((void)half(2).error(), "internal error");
}

} // namespace
} // namespace tandem
