// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Histories whose opacity is known.
#include "history.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tandem::opacity {
namespace {

using testing::HasSubstr;

constexpr std::uint32_t kX = 0;
constexpr std::uint32_t kY = 1;
constexpr Value kX0 = initial_value(kX);
constexpr Value kY0 = initial_value(kY);
constexpr Value kX1 = kFirstWritten;
constexpr Value kX2 = kFirstWritten + 1;
constexpr Value kY1 = kFirstWritten + 2;
constexpr Ticks kLong = 1'000'000; // far above the clocks' error

Access read(std::uint32_t place, Value value) { return {place, false, false, value}; }
Access write(std::uint32_t place, Value value) { return {place, true, false, value}; }
Access dropped(std::uint32_t place, Value value) { return {place, true, true, value}; }
Attempt committed(Ticks begin, Ticks end, std::vector<Access> accesses) {
  return {begin * kLong, end * kLong, Outcome::committed, std::move(accesses)};
}
Attempt undone(Ticks begin, Ticks end, std::vector<Access> accesses) {
  return {begin * kLong, end * kLong, Outcome::undone, std::move(accesses)};
}
std::string violation(const std::vector<ThreadHistory> &threads,
                      const std::vector<Value> &finally) {
  return find_violation(threads, finally).value_or("");
}

TEST(opacity_checker, accepts_overlapping_attempts_that_have_an_order) {
  EXPECT_EQ(violation({{committed(1, 9, {read(kX, kX0), read(kY, kY0)})},
                       {committed(2, 3, {read(kX, kX0), write(kX, kX1), read(kX, kX1)})},
                       {committed(4, 5, {read(kX, kX1), read(kY, kY0), write(kY, kY1)})}},
                      {kX1, kY1}),
            "");
}

TEST(opacity_checker, accepts_an_undone_attempt_that_saw_one_state) {
  EXPECT_EQ(violation({{undone(1, 4, {read(kX, kX0), write(kX, kX2), read(kY, kY0)})},
                       {committed(2, 3, {read(kX, kX0), write(kX, kX1)})}},
                      {kX1, kY0}),
            "");
}

TEST(opacity_checker, accepts_what_a_nested_transaction_undid) {
  EXPECT_EQ(violation({{committed(
                          1, 2, {read(kX, kX0), dropped(kX, kX1), read(kX, kX1), read(kX, kX0)})}},
                      {kX0}),
            "");
}

TEST(opacity_checker, refuses_two_states_in_one_attempt) {
  const std::vector<ThreadHistory> threads = {
      {undone(1, 9, {read(kX, kX0), read(kY, kY1)})},
      {committed(2, 3, {read(kX, kX0), write(kX, kX1), read(kY, kY0), write(kY, kY1)})}};
  EXPECT_THAT(violation(threads, {kX1, kY1}), HasSubstr("no serial order"));
}

TEST(opacity_checker, refuses_write_skew) {
  EXPECT_THAT(violation({{committed(1, 9, {read(kX, kX0), read(kY, kY0), write(kX, kX1)})},
                         {committed(2, 8, {read(kX, kX0), read(kY, kY0), write(kY, kY1)})}},
                        {kX1, kY1}),
              HasSubstr("no serial order"));
}

TEST(opacity_checker, refuses_a_lost_update) {
  EXPECT_THAT(violation({{committed(1, 9, {read(kX, kX0), write(kX, kX1)})},
                         {committed(2, 8, {read(kX, kX0), write(kX, kX2)})}},
                        {kX2}),
              HasSubstr("lost update"));
}

TEST(opacity_checker, refuses_a_value_that_was_undone) {
  EXPECT_THAT(
      violation({{undone(1, 9, {read(kX, kX0), write(kX, kX1)})}, {undone(2, 8, {read(kX, kX1)})}},
                {kX0}),
      HasSubstr("never committed"));
}

TEST(opacity_checker, refuses_a_value_between_two_writes) {
  EXPECT_THAT(violation({{committed(1, 9, {read(kX, kX0), write(kX, kX1), write(kX, kX2)})},
                         {committed(2, 8, {read(kX, kX1)})}},
                        {kX2}),
              HasSubstr("never committed"));
}

TEST(opacity_checker, refuses_an_old_value_after_a_commit) {
  EXPECT_THAT(violation({{committed(1, 2, {read(kX, kX0), write(kX, kX1)})},
                         {committed(4, 5, {read(kX, kX0)})}},
                        {kX1}),
              HasSubstr("no serial order"));
}

TEST(opacity_checker, refuses_a_lost_own_write) {
  EXPECT_THAT(violation({{committed(1, 2, {read(kX, kX0), write(kX, kX1), read(kX, kX0)})}}, {kX1}),
              HasSubstr("own write"));
}

TEST(opacity_checker, refuses_two_versions_of_one_place) {
  EXPECT_THAT(violation({{undone(1, 9, {read(kX, kX0), read(kX, kX1)})},
                         {committed(2, 3, {read(kX, kX0), write(kX, kX1)})}},
                        {kX1}),
              HasSubstr("two versions"));
}

TEST(opacity_checker, refuses_other_memory_at_the_end) {
  EXPECT_THAT(violation({{committed(1, 2, {read(kX, kX0), write(kX, kX1)})}}, {kX0}),
              HasSubstr("at the end"));
}

TEST(opacity_checker, refuses_values_from_nowhere) {
  EXPECT_THAT(violation({{undone(1, 2, {read(kX, 777)})}}, {kX0}), HasSubstr("nobody wrote"));
}

} // namespace
} // namespace tandem::opacity
