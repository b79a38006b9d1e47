// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "base/doing.h"

#include "base/check.h"

#include <gmock/gmock.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

namespace tandem {
namespace {

TEST(Doing, IsTheInnermost) {
  EXPECT_STREQ(doing(), "");
  {
    const Doing outer("analysing");
    EXPECT_STREQ(doing(), "analysing");
    {
      const Doing inner("enforcing section 'f'");
      EXPECT_STREQ(doing(), "enforcing section 'f'");
    }
    EXPECT_STREQ(doing(), "analysing");
  }
  EXPECT_STREQ(doing(), "");
}

TEST(Doing, IsCutWhereItIsLong) {
  const Doing what(std::string(1000, 'x'));
  EXPECT_EQ(doing(), std::string(255, 'x'));
}

TEST(Doing, GoesDeep) {
  std::vector<std::unique_ptr<Doing>> all;
  for (int i = 0; i < 40; ++i)
    all.push_back(std::make_unique<Doing>(std::to_string(i)));
  EXPECT_STREQ(doing(), "15");
  while (all.size() > 3)
    all.pop_back();
  EXPECT_STREQ(doing(), "2");
}

void tell(const char *what) noexcept {
  std::fprintf(stderr, "told: %s\n", what);
  std::_Exit(70);
}

TEST(CheckDeathTest, AbortsAndSaysWhatItWasDoing) {
  const Doing what("testing");
  EXPECT_DEATH(CHECK(1 == 2, "state {}", 3),
               "internal error: 1 == 2 does not hold: state 3, while testing");
}

TEST(CheckDeathTest, TellsTheHandler) {
  EXPECT_EXIT(
      {
        on_internal_error(tell);
        CHECK(false);
      },
      testing::ExitedWithCode(70), "told: .*doing_test.cc:.*: false does not hold\n");
}

} // namespace
} // namespace tandem
