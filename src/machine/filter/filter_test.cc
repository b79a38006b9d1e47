// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/filter/analytic.h"
#include "machine/filter/counting_bloom.h"
#include "machine/filter/d_left.h"
#include "machine/filter/hash.h"
#include "machine/filter/presence.h"
#include "machine/filter/property.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace tandem::machine::filter {
namespace {

using property::Members;
using property::Random;

TEST(permutation, is_a_bijection_at_every_width) {
  for (unsigned bits = 1; bits <= 14; ++bits)
    for (std::uint64_t seed = 0; seed < 8; ++seed) {
      const Permutation p(bits, seed);
      std::vector<bool> seen(std::size_t{1} << bits, false);
      for (std::uint32_t x = 0; x < seen.size(); ++x) {
        const std::uint32_t y = p.apply(x);
        ASSERT_LT(y, seen.size());
        ASSERT_FALSE(seen[y]) << bits << " bits, seed " << seed;
        seen[y] = true;
        ASSERT_EQ(p.invert(y), x);
      }
    }
}

TEST(permutation, inverts_wide_numbers) {
  for (const std::uint64_t seed : property::seeds()) {
    SCOPED_TRACE(property::trace(seed));
    Random random(seed);
    for (unsigned bits = 15; bits <= 32; ++bits) {
      const Permutation p(bits, random());
      for (int n = 0; n < 1000; ++n) {
        const auto x = static_cast<std::uint32_t>(random() >> (64 - bits));
        ASSERT_EQ(p.invert(p.apply(x)), x) << bits << " bits";
      }
    }
  }
}

// Filters so small that counters fill and buckets overflow all the time.
template <class Filter> void random_history(Filter filter, std::uint64_t seed, std::size_t target) {
  SCOPED_TRACE(property::trace(seed));
  Random random(seed);
  Members members;
  for (int n = 0; n < 4000; ++n) {
    property::step(filter, members, random, target, 4 * target);
    if (n % 16 == 0) {
      ASSERT_TRUE(property::has_all(filter, members)) << "a false negative at step " << n;
    }
    ASSERT_EQ(filter.members(), members.size());
  }
  property::erase_all(filter, members, random);
  EXPECT_TRUE(filter.empty()) << "something leaked";
}

TEST(counting_bloom, never_forgets_and_never_leaks) {
  for (const std::uint64_t seed : property::seeds())
    for (const unsigned hashes : {1U, 2U, 4U, 7U})
      for (const std::size_t counters : {1U, 2U, 8U, 64U})
        random_history(
            CountingBloom({.hashes = hashes, .counters_per_hash = counters, .seed = seed}), seed,
            200);
}

TEST(counting_bloom, counts_beside_a_full_counter) {
  CountingBloom filter({.hashes = 2, .counters_per_hash = 1, .seed = 7});
  for (std::uint64_t key = 0; key < CountingBloom::kCounterMax - 1; ++key)
    EXPECT_FALSE(filter.insert(key).saturated);
  const Inserted full = filter.insert(100);
  EXPECT_TRUE(full.saturated);
  EXPECT_FALSE(full.spilled);
  EXPECT_TRUE(filter.shares_full_counter(100, 5));
  EXPECT_TRUE(filter.insert(101).spilled);
  EXPECT_EQ(filter.excess_entries(), 2U);
  filter.erase(100);
  EXPECT_EQ(filter.excess_entries(), 0U);
  filter.erase(101);
  EXPECT_FALSE(filter.shares_full_counter(101, 5));
  for (std::uint64_t key = 0; key < CountingBloom::kCounterMax - 1; ++key) {
    EXPECT_TRUE(filter.may_contain(key));
    filter.erase(key);
  }
  EXPECT_TRUE(filter.empty());
}

TEST(d_left, never_forgets_and_never_leaks) {
  for (const std::uint64_t seed : property::seeds())
    for (const unsigned sub_tables : {0U, 1U, 3U, 4U, 8U})
      for (const std::size_t buckets : {2U, 16U})
        for (const unsigned counter_bits : {1U, 3U}) {
          const DLeftParameters parameters{.sub_tables = sub_tables,
                                           .buckets = buckets,
                                           .cells = 4,
                                           .remainder_bits = 3,
                                           .counter_bits = counter_bits,
                                           .seed = seed};
          random_history(DLeft(parameters), seed, 150);
        }
}

TEST(d_left, keeps_its_sums_at_every_step) {
  for (const std::uint64_t seed : property::seeds()) {
    SCOPED_TRACE(property::trace(seed));
    Random random(seed);
    Members members;
    DLeft filter({.sub_tables = 3,
                  .buckets = 4,
                  .cells = 2,
                  .remainder_bits = 3,
                  .counter_bits = 2,
                  .seed = seed});
    std::size_t spilled = 0;
    for (int n = 0; n < 2000; ++n) {
      property::step(filter, members, random, 40, 400);
      ASSERT_TRUE(filter.consistent()) << "step " << n;
      spilled += filter.spilled();
    }
    EXPECT_GT(spilled, 0U) << "the test is to reach full buckets";
  }
}

// The mistake that one hash and bijections exclude: with independent places, erasing x may take y's
// cell.
TEST(d_left, erasing_a_key_leaves_its_twin) {
  const DLeftParameters parameters{.sub_tables = 4, .buckets = 4, .cells = 4, .remainder_bits = 2};
  DLeft filter(parameters);
  std::uint64_t twin = 1;
  while (!filter.same_fingerprint(0, twin))
    ++twin;
  filter.insert(0);
  filter.insert(twin);
  EXPECT_EQ(filter.used_cells(), 1U);
  filter.erase(0);
  EXPECT_TRUE(filter.may_contain(twin));
  filter.erase(twin);
  EXPECT_FALSE(filter.may_contain(twin));
  EXPECT_TRUE(filter.empty());
}

TEST(d_left, says_when_a_counter_is_full) {
  DLeft filter({.sub_tables = 2, .buckets = 2, .cells = 2, .remainder_bits = 1, .counter_bits = 2});
  std::vector<std::uint64_t> twins{0};
  for (std::uint64_t key = 1; twins.size() < 4; ++key)
    if (filter.same_fingerprint(0, key))
      twins.push_back(key);
  EXPECT_FALSE(filter.insert(twins[0]).saturated);
  EXPECT_FALSE(filter.insert(twins[1]).saturated);
  EXPECT_TRUE(filter.insert(twins[2]).saturated);
  const Inserted beyond = filter.insert(twins[3]);
  EXPECT_TRUE(beyond.saturated && beyond.spilled);
  EXPECT_EQ(filter.spilled(), 1U);
}

TEST(d_left, erasing_a_stranger_is_fatal) {
  DLeft filter({.sub_tables = 4, .buckets = 256});
  filter.insert(1);
  EXPECT_DEATH(filter.erase(2), "no member");
}

double measured(auto &filter, std::size_t members, std::uint64_t seed, int lookups) {
  Random random(seed);
  for (std::size_t n = 0; n < members; ++n)
    filter.insert(random() >> 1);
  int hits = 0;
  for (int n = 0; n < lookups; ++n)
    hits += filter.may_contain(random() | std::uint64_t{1} << 63);
  return static_cast<double>(hits) / lookups;
}

// 16 bytes of SRAM a bucket, as in the paper: 8 cells of 12 bits, and 8 sums of 4.
TEST(d_left, has_the_papers_size) {
  EXPECT_EQ(DLeft({.sub_tables = 4, .buckets = 256}).storage_bits(), 4U * 256 * 128);
}

TEST(d_left, counts_beside_a_full_sum) {
  DLeft filter(
      {.sub_tables = 1, .buckets = 2, .cells = 1, .remainder_bits = 1, .spill_counters = 1});
  for (std::uint64_t key = 0; key < 64; ++key)
    filter.insert(key);
  EXPECT_EQ(filter.groups(), 2U);
  EXPECT_GT(filter.largest_spill(), 15U);
  EXPECT_GE(filter.peak_excess_groups(), 1U);
  for (std::uint64_t key = 0; key < 64; ++key)
    ASSERT_TRUE(filter.may_contain(key));
  for (std::uint64_t key = 0; key < 64; ++key)
    filter.erase(key);
  EXPECT_TRUE(filter.empty());
  EXPECT_TRUE(filter.consistent());
}

// The slice of the FLASK paper with 20 % and its private caches full of different blocks: 4,096
// cells for 5,120 members. One sum for each row would be 0 almost nowhere.
TEST(d_left, few_lookups_hit_only_because_a_bucket_is_full) {
  const auto rate = [](unsigned spill_counters) {
    DLeft filter({.sub_tables = 4, .buckets = 128, .spill_counters = spill_counters});
    const double hits = measured(filter, 5120, 7, 20000);
    EXPECT_GT(filter.spilled(), 800U);
    EXPECT_EQ(filter.peak_excess_groups(), 0U);
    return hits;
  };
  EXPECT_LT(rate(8), 0.35);
  EXPECT_GT(rate(1), 2 * rate(8));
}

// Five standard deviations of the lookups' sampling, and 3 % for the choice of members.
void expect_near(double rate, double theory, int lookups) {
  EXPECT_NEAR(rate, theory, 5 * std::sqrt(theory * (1 - theory) / lookups) + 0.03 * theory);
}

TEST(analytic, d_left_false_positives_are_as_computed) {
  constexpr int kLookups = 100000;
  for (const std::uint64_t seed : property::seeds())
    for (const std::size_t members : {1000U, 3000U, 5120U}) {
      SCOPED_TRACE(property::trace(seed));
      DLeft filter({.sub_tables = 4, .buckets = 256, .seed = seed});
      const double rate = measured(filter, members, seed, kLookups);
      ASSERT_EQ(filter.spilled(), 0U);
      expect_near(rate, d_left_false_positive(256, 9, members), kLookups);
    }
}

TEST(analytic, false_positives_of_full_buckets_are_as_computed) {
  constexpr int kLookups = 100000;
  for (const std::uint64_t seed : property::seeds())
    for (const std::size_t buckets : {32U, 64U, 128U}) {
      SCOPED_TRACE(property::trace(seed));
      DLeft filter({.sub_tables = 4, .buckets = buckets, .seed = seed});
      const double rate = measured(filter, 5120, seed, kLookups);
      const auto spilled = static_cast<double>(filter.spilled());
      expect_near(rate, d_left_false_positive(buckets, 9, 5120 - spilled, filter.groups(), spilled),
                  kLookups);
    }
}

TEST(analytic, counting_bloom_false_positives_are_as_computed) {
  constexpr int kLookups = 100000;
  for (const std::uint64_t seed : property::seeds())
    for (const unsigned hashes : {1U, 2U, 4U}) {
      SCOPED_TRACE(property::trace(seed));
      CountingBloom filter({.hashes = hashes, .counters_per_hash = 8192, .seed = seed});
      const double rate = measured(filter, 5120, seed, kLookups);
      expect_near(rate, counting_bloom_false_positive(hashes, 8192, 5120), kLookups);
    }
}

TEST(analytic, agrees_with_what_is_published) {
  // Bonomi's rate at the paper's parameters, "5 %" there.
  EXPECT_NEAR(d_left_false_positive_at_load(4, 8, 9, 0.75), 0.0469, 0.0001);
  // The two forms are one where the load is n cells of d b c.
  EXPECT_NEAR(d_left_false_positive(256, 9, 6144), d_left_false_positive_at_load(4, 8, 9, 0.75),
              0.002);
  // A plain filter's optimum: 6.2 counters a member at 5 %, 4.3 hashes.
  EXPECT_NEAR(counting_bloom_counters_per_member(0.05), 6.235, 0.001);
  EXPECT_NEAR(counting_bloom_best_false_positive(counting_bloom_counters_per_member(0.05)), 0.05,
              1e-9);
  EXPECT_NEAR(counting_bloom_false_positive(4, 5120 * 6 / 4, 5120),
              counting_bloom_best_false_positive(6), 0.003);
  // FLASK's overflow bound, C(5000, 9) 2^-153, is ours divided by the space of 2^17 fingerprints.
  EXPECT_NEAR(d_left_shared_bound(256, 9, 5000, 9) / 131072 / 4.6e-19, 1.0, 0.05);
}

TEST(analytic, overflow_bounds_hold) {
  // 256 fingerprints, 512 members: 8 of them on one fingerprint is expected, and the bound says so.
  EXPECT_EQ(d_left_shared_bound(16, 4, 512, 4), 1.0);
  EXPECT_LT(d_left_shared_bound(256, 9, 5120, 8), 1e-9);
  EXPECT_EQ(d_left_shared_bound(256, 9, 5, 8), 0.0);
  EXPECT_LT(counting_bloom_overflow_bound(4, 8192, 5120, 15), 1e-10);
  EXPECT_EQ(counting_bloom_overflow_bound(4, 8, 5120, 15), 1.0);
}

class EveryKind : public testing::TestWithParam<Kind> {};

TEST_P(EveryKind, agrees_with_the_exact_set) {
  for (const std::uint64_t seed : property::seeds()) {
    SCOPED_TRACE(property::trace(seed));
    Random random(seed);
    Members members;
    Presence filter({.kind = GetParam(),
                     .d_left = {.sub_tables = 4, .buckets = 16, .seed = seed},
                     .counting_bloom = counting_bloom_in_ways(4, 16, seed),
                     .exact_set_beside = true});
    for (int n = 0; n < 5000; ++n) {
      property::step(filter, members, random, 300, 2000);
      const std::uint64_t probe = random.below(2000);
      const bool hit = filter.lookup(probe); // CHECKs that it is no false negative
      if (GetParam() == Kind::exact) {
        ASSERT_EQ(hit, members.contains(probe));
      }
    }
    ASSERT_EQ(filter.members(), members.size());
    ASSERT_EQ(filter.exact_set()->size(), members.size());
    const PresenceStatistics &statistics = filter.statistics();
    EXPECT_EQ(statistics.inserts - statistics.erases, members.size());
    const double rate = statistics.false_positive_rate();
    if (GetParam() == Kind::exact) {
      EXPECT_EQ(rate, 0);
    }
    if (GetParam() == Kind::always_hit) {
      EXPECT_EQ(rate, 1);
    }
    if (GetParam() == Kind::d_left || GetParam() == Kind::counting_bloom) {
      EXPECT_GT(rate, 0);
    }
    property::erase_all(filter, members, random);
    EXPECT_EQ(filter.members(), 0U);
    EXPECT_EQ(filter.peek(1), GetParam() == Kind::always_hit);
  }
}

INSTANTIATE_TEST_SUITE_P(presence, EveryKind,
                         testing::Values(Kind::always_hit, Kind::exact, Kind::counting_bloom,
                                         Kind::d_left));

TEST(presence, refuses_a_second_insertion) {
  PresenceParameters parameters;
  parameters.exact_set_beside = true;
  Presence filter(parameters);
  filter.insert(3);
  EXPECT_DEATH(filter.insert(3), "in the filter already");
  EXPECT_DEATH(filter.erase(4), "not in the filter");
}

TEST(presence, knows_its_kinds_by_name) {
  for (const std::string_view kind : kKindNames)
    EXPECT_EQ(name(*kind_from_name(kind)), kind);
  EXPECT_FALSE(kind_from_name("bloom").has_value());
}

} // namespace
} // namespace tandem::machine::filter
