// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "contention/policy.h"

#include "contention/backoff.h"
#include "contention/names.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace tandem::contention {
namespace {

struct Model {
  std::uint64_t id = 0;
  Time time = 0;
  std::uint32_t restart_count = 0;
  std::uint64_t work = 0;
  std::uint64_t bytes = 0;
  bool writes = true;
  std::set<std::uint64_t> deferred = {};

  [[nodiscard]] std::uint64_t identity() const { return id; }
  [[nodiscard]] Time started() const { return time; }
  [[nodiscard]] std::uint32_t restarts() const { return restart_count; }
  [[nodiscard]] std::uint64_t priority() const { return work; }
  [[nodiscard]] std::uint64_t size() const { return bytes; }
  [[nodiscard]] bool writing() const { return writes; }
  [[nodiscard]] bool deferred_to(const Model &other) const { return deferred.contains(other.id); }
  void remember_deferring_to(const Model &other) { deferred.insert(other.id); }
  void add_priority(std::uint64_t more) { work += more; }
};
static_assert(Transaction<Model>);

TEST(policy, polite_stalls_ten_times_and_then_wins) {
  Model a{.id = 1};
  Model b{.id = 2};
  for (std::uint32_t n = 0; n < kPoliteAttempts; ++n)
    EXPECT_EQ(decide(Policy::polite, a, b, n), Decision::stall);
  EXPECT_EQ(decide(Policy::polite, a, b, kPoliteAttempts), Decision::abort_other);
}

TEST(policy, karma_aborts_the_one_that_has_done_less) {
  Model a{.id = 1, .work = 5};
  Model b{.id = 2, .work = 6};
  EXPECT_EQ(decide(Policy::karma, a, b, 0), Decision::abort_self);
  EXPECT_EQ(decide(Policy::karma, b, a, 0), Decision::abort_other);
}

TEST(policy, eruption_gives_the_winners_priority_to_the_loser) {
  Model a{.id = 1, .work = 5};
  Model b{.id = 2, .work = 6};
  EXPECT_EQ(decide(Policy::eruption, a, b, 0), Decision::abort_self);
  EXPECT_EQ(a.work, 11U);
  EXPECT_EQ(decide(Policy::eruption, a, b, 0), Decision::abort_other);
  EXPECT_EQ(b.work, 17U);
}

TEST(policy, kindergarten_defers_once_each_way_and_then_asks_the_age) {
  Model young{.id = 1, .time = 9};
  Model old{.id = 2, .time = 3};
  EXPECT_EQ(decide(Policy::kindergarten, young, old, 0), Decision::abort_self);
  EXPECT_EQ(decide(Policy::kindergarten, young, old, 0), Decision::abort_other);
  EXPECT_EQ(decide(Policy::kindergarten, young, old, 0), Decision::abort_self);
  EXPECT_EQ(decide(Policy::kindergarten, old, young, 0), Decision::abort_other);
}

TEST(policy, timestamp_lets_the_oldest_win) {
  Model young{.id = 1, .time = 9};
  Model old{.id = 2, .time = 3};
  EXPECT_EQ(decide(Policy::timestamp, young, old, 0), Decision::abort_self);
  EXPECT_EQ(decide(Policy::timestamp, old, young, 0), Decision::abort_other);
}

TEST(policy, polka_lets_writes_beat_reads) {
  Model reader{.id = 1, .work = 100, .writes = false};
  Model writer{.id = 2, .work = 1, .writes = true};
  EXPECT_EQ(decide(Policy::polka, reader, writer, 0), Decision::abort_self);
  EXPECT_EQ(decide(Policy::polka, writer, reader, 0), Decision::abort_other);
}

TEST(policy, polka_waits_as_many_intervals_as_the_priorities_differ) {
  Model behind{.id = 1, .work = 4};
  Model ahead{.id = 2, .work = 7};
  EXPECT_EQ(decide(Policy::polka, ahead, behind, 0), Decision::abort_other);
  EXPECT_EQ(decide(Policy::polka, behind, ahead, 2), Decision::stall);
  EXPECT_EQ(decide(Policy::polka, behind, ahead, 3), Decision::abort_other);
  ahead.work = 1000;
  EXPECT_EQ(decide(Policy::polka, behind, ahead, kPoliteAttempts - 1), Decision::stall);
  EXPECT_EQ(decide(Policy::polka, behind, ahead, kPoliteAttempts), Decision::abort_other);
}

TEST(policy, size_matters_until_it_has_restarted_too_often) {
  Model large{.id = 1, .time = 9, .bytes = 64};
  Model small{.id = 2, .time = 3, .bytes = 8};
  EXPECT_EQ(decide(Policy::size_matters, large, small, 0), Decision::abort_other);
  EXPECT_EQ(decide(Policy::size_matters, small, large, 0), Decision::abort_self);
  small.restart_count = kSizeMattersRestarts;
  EXPECT_EQ(decide(Policy::size_matters, large, small, 0), Decision::abort_self);
  EXPECT_EQ(decide(Policy::size_matters, small, large, 0), Decision::abort_other);
}

TEST(policy, stall_without_knowing_who_waits_lets_the_older_wait) {
  Model young{.id = 1, .time = 9};
  Model old{.id = 2, .time = 3};
  EXPECT_EQ(decide(Policy::stall, old, young, 0), Decision::stall);
  EXPECT_EQ(decide(Policy::stall, old, young, 1'000'000), Decision::stall);
  EXPECT_EQ(decide(Policy::stall, young, old, 0), Decision::abort_self);
}

struct Waiter : Model {
  const Waiter *holder = nullptr;
  [[nodiscard]] const Waiter *waits_for() const { return holder; }
};
static_assert(Waiting<Waiter> && !Waiting<Model>);

// `count` transactions, each waiting for the next; the last one for nobody.
std::vector<Waiter> chain(std::size_t count) {
  std::vector<Waiter> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].id = i + 1;
    all[i].time = 100 + (i * 7) % count;
    all[i].holder = i + 1 < count ? &all[i + 1] : nullptr;
  }
  return all;
}

TEST(policy, stall_waits_for_whoever_works) {
  std::vector<Waiter> all = chain(5);
  for (std::size_t i = 0; i + 1 < all.size(); ++i)
    for (const std::uint32_t attempts : {0U, 20U, kStallAttempts - 1})
      EXPECT_EQ(decide(Policy::stall, all[i], all[i + 1], attempts), Decision::stall);
}

// Exactly the youngest restarts, whatever the length and the place of the cycle's start.
TEST(policy, stall_restarts_the_youngest_of_a_cycle) {
  for (std::size_t count = 2; count <= kLongestCycle; ++count) {
    std::vector<Waiter> all = chain(count);
    all.back().holder = &all.front();
    std::vector<std::uint64_t> restarting;
    const Waiter *youngest = &all.front();
    for (std::size_t i = 0; i < count; ++i) {
      if (detail::older(*youngest, all[i]))
        youngest = &all[i];
      if (decide(Policy::stall, all[i], all[(i + 1) % count], 0) == Decision::abort_self)
        restarting.push_back(all[i].id);
    }
    EXPECT_THAT(restarting, testing::ElementsAre(youngest->id)) << count;
  }
}

TEST(policy, stall_outside_of_a_cycle_waits) {
  std::vector<Waiter> all = chain(3);
  all[2].holder = &all[1];
  EXPECT_EQ(decide(Policy::stall, all[0], all[1], 0), Decision::stall);
}

TEST(policy, stall_ends_cycles_that_are_too_long_to_see) {
  std::vector<Waiter> all = chain(kLongestCycle + 10);
  all.back().holder = &all.front();
  int restarting = 0;
  for (std::size_t i = 0; i < all.size(); ++i) {
    Waiter &holder = all[(i + 1) % all.size()];
    EXPECT_EQ(decide(Policy::stall, all[i], holder, 0), Decision::stall);
    restarting += decide(Policy::stall, all[i], holder, kStallAttempts) == Decision::abort_self;
  }
  EXPECT_GT(restarting, 0);
}

// The search says what `stall` acts on, for users that combine waiting with another policy.
TEST(cycle, of_every_length_is_found_and_no_other) {
  for (std::size_t count = 2; count <= kLongestCycle; ++count) {
    std::vector<Waiter> all = chain(count);
    EXPECT_FALSE(find_cycle(all[0], all[1]).closed) << count;
    all.back().holder = &all.front();
    int youngest = 0;
    for (std::size_t i = 0; i < count; ++i) {
      const Cycle cycle = find_cycle(all[i], all[(i + 1) % count]);
      EXPECT_TRUE(cycle.closed && !cycle.unknown) << count;
      youngest += cycle.requester_youngest ? 1 : 0;
    }
    EXPECT_EQ(youngest, 1) << count;
  }
}

TEST(cycle, that_the_requester_is_no_member_of_is_not_its_own) {
  std::vector<Waiter> all = chain(4);
  all[3].holder = &all[2];
  const Cycle cycle = find_cycle(all[0], all[1]);
  EXPECT_FALSE(cycle.closed);
  EXPECT_TRUE(cycle.unknown);
}

TEST(cycle, is_looked_for_as_far_as_asked) {
  std::vector<Waiter> all = chain(10);
  all.back().holder = &all.front();
  EXPECT_TRUE(find_cycle(all[0], all[1], 9).unknown);
  EXPECT_TRUE(find_cycle(all[0], all[1], 10).closed);
}

// What users of the policies have to keep in common, a row for each combination.
TEST(rules, come_before_the_policy) {
  for (unsigned bits = 0; bits < 16; ++bits) {
    const Sides sides{.requester_outside = (bits & 1) != 0,
                      .same_thread = (bits & 2) != 0,
                      .requester_doomed = (bits & 4) != 0,
                      .holder_doomed = (bits & 8) != 0};
    std::optional<Decision> expected;
    if ((bits & 3) != 0)
      expected = Decision::abort_other;
    else if ((bits & 4) != 0)
      expected = Decision::abort_self;
    else if ((bits & 8) != 0)
      expected = Decision::abort_other;
    EXPECT_EQ(rule_before_policy(sides), expected) << bits;
  }
}

TEST(standing, eruption_moves_priority_once_for_a_conflict) {
  Model a{.id = 1, .work = 5};
  Model b{.id = 2, .work = 6};
  Standing standing;
  for (int polls = 0; polls < 5; ++polls)
    EXPECT_EQ(standing.decide(Policy::eruption, a, b, 0), Decision::abort_self);
  EXPECT_EQ(a.work, 11U);
  a.restart_count = 1; // and comes again: another conflict
  EXPECT_EQ(standing.decide(Policy::eruption, a, b, 0), Decision::abort_other);
  EXPECT_EQ(b.work, 17U);
  b.restart_count = 1;
  EXPECT_EQ(standing.decide(Policy::eruption, a, b, 0), Decision::abort_self);
  EXPECT_EQ(a.work, 28U);
}

TEST(standing, a_stall_is_asked_again) {
  Model a{.id = 1};
  Model b{.id = 2};
  Standing standing;
  EXPECT_EQ(standing.decide(Policy::polite, a, b, 0), Decision::stall);
  EXPECT_EQ(standing.decide(Policy::polite, a, b, kPoliteAttempts), Decision::abort_other);
  EXPECT_EQ(standing.decide(Policy::polite, a, b, 0), Decision::abort_other);
  standing.forget();
  EXPECT_EQ(standing.decide(Policy::polite, a, b, 0), Decision::stall);
}

// Except for policies that change the transactions, both sides of one conflict name the same
// loser.
class Symmetric : public testing::TestWithParam<Policy> {};

TEST_P(Symmetric, exactly_one_side_gives_way) {
  Xorshift random(20260421);
  for (int i = 0; i < 20'000; ++i) {
    Model a{.id = 1,
            .time = random() % 3,
            .restart_count = static_cast<std::uint32_t>(random() % 12),
            .work = random() % 3,
            .bytes = random() % 3};
    Model b{.id = 2,
            .time = random() % 3,
            .restart_count = static_cast<std::uint32_t>(random() % 12),
            .work = random() % 3,
            .bytes = random() % 3};
    const Decision x = decide(GetParam(), a, b, 0);
    const Decision y = decide(GetParam(), b, a, 0);
    ASSERT_NE(x == Decision::abort_other, y == Decision::abort_other) << i;
  }
}
INSTANTIATE_TEST_SUITE_P(policies, Symmetric,
                         testing::Values(Policy::karma, Policy::timestamp, Policy::polka,
                                         Policy::size_matters));

// Two transactions that meet again and again: with every policy each of them finally commits.
class Progress : public testing::TestWithParam<Policy> {};

TEST_P(Progress, both_finally_commit) {
  Xorshift random(7);
  for (int round = 0; round < 200; ++round) {
    Model a{.id = 1, .time = random() % 5, .work = random() % 50, .bytes = random() % 50};
    Model b{.id = 2, .time = random() % 5, .work = random() % 50, .bytes = random() % 50};
    Model *winner = nullptr;
    for (std::uint32_t attempts = 0; attempts < 100 && winner == nullptr;) {
      const bool a_asks = random() % 2 == 0;
      Model &requester = a_asks ? a : b;
      Model &holder = a_asks ? b : a;
      const Decision decision = decide(GetParam(), requester, holder, attempts);
      if (decision == Decision::stall) {
        ++attempts;
        continue;
      }
      Model &loser = decision == Decision::abort_self ? requester : holder;
      ++loser.restart_count;
      winner = &loser == &a ? &b : &a;
    }
    ASSERT_NE(winner, nullptr);
  }
}
INSTANTIATE_TEST_SUITE_P(policies, Progress,
                         testing::Values(Policy::polite, Policy::karma, Policy::eruption,
                                         Policy::kindergarten, Policy::timestamp, Policy::polka,
                                         Policy::size_matters));

TEST(backoff, bounds) {
  Xorshift random(1);
  for (std::uint32_t n = 0; n < 40; ++n) {
    EXPECT_EQ(delay(Backoff::none, n, random), 0U);
    const std::uint64_t linear = delay(Backoff::linear, n, random);
    EXPECT_GE(linear, n + 1U);
    EXPECT_LE(linear, 10U * (n + 1U));
    EXPECT_EQ(linear % (n + 1U), 0U);
    const std::uint32_t exponent = n < kExponentCeiling ? n : kExponentCeiling;
    const std::uint64_t exponential = delay(Backoff::exponential, n, random);
    EXPECT_GE(exponential, std::uint64_t{1} << exponent);
    EXPECT_LE(exponential, std::uint64_t{10} << exponent);
    EXPECT_LE(delay(Backoff::random, n, random), kRandomLongest);
  }
}

TEST(backoff, of_the_square_grows_with_it) {
  Xorshift random(1);
  for (std::uint32_t n = 0; n < 20; ++n)
    EXPECT_EQ(delay(Backoff::square, n, 3, random), 3U * (n + 1U) * (n + 1U));
  EXPECT_LE(delay(Backoff::square, 9, random), 1000U);
}

TEST(backoff, polkas_seed_is_how_far_it_is_behind) {
  EXPECT_EQ(polka_seed(4, 11), 7U);
  EXPECT_EQ(polka_seed(11, 4), 7U);
  EXPECT_EQ(polka_seed(4, 4), 1U);
  Xorshift random(1);
  EXPECT_EQ(delay(Backoff::linear, 2, polka_seed(4, 11), random), 21U);
  EXPECT_EQ(delay(Backoff::exponential, 20, polka_seed(4, 11), random, 16), 7U << 16);
}

TEST(backoff, seeds_cover_their_range) {
  Xorshift random(3);
  std::map<std::uint64_t, int> seen;
  for (int i = 0; i < 1000; ++i)
    ++seen[delay(Backoff::linear, 0, random)];
  EXPECT_EQ(seen.size(), kBackoffSeeds);
}

TEST(names, every_name_is_found_and_no_other) {
  for (const auto &[name, policy] : kPolicyNames)
    EXPECT_EQ(named(kPolicyNames, name), policy);
  for (const auto &[name, backoff] : kBackoffNames)
    EXPECT_EQ(named(kBackoffNames, name), backoff);
  EXPECT_EQ(named(kPolicyNames, "Karma"), std::nullopt);
  EXPECT_EQ(named(kBackoffNames, ""), std::nullopt);
}

} // namespace
} // namespace tandem::contention
