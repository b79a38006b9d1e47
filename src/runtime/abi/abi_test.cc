// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <tandem/abi.h>

#include <gtest/gtest.h>

namespace tandem {
namespace {

TEST(Abi, BitSetsCountFromTheLowestBitOfTheFirstWord) {
  const std::uint64_t set[] = {(std::uint64_t{1} << 63) | 1, 2};
  for (std::uint32_t index = 0; index < 128; ++index)
    EXPECT_EQ(tandem_has_colour(set, index), index == 0 || index == 63 || index == 65) << index;
}

} // namespace
} // namespace tandem
