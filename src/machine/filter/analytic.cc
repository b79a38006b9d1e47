// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/filter/analytic.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tandem::machine::filter {
namespace {

// ln C(n, m); minus infinity when m > n.
double log_choose(double n, double m) {
  if (m > n)
    return -INFINITY;
  return std::lgamma(n + 1) - std::lgamma(m + 1) - std::lgamma(n - m + 1);
}

// 1 - (1 - p)^n without cancellation.
double at_least_once(double p, double n) { return -std::expm1(n * std::log1p(-p)); }

} // namespace

double counting_bloom_false_positive(unsigned hashes, std::size_t counters_per_hash,
                                     std::size_t n) {
  const double occupied =
      at_least_once(1.0 / static_cast<double>(counters_per_hash), static_cast<double>(n));
  return std::pow(occupied, hashes);
}

double counting_bloom_best_false_positive(double counters_per_member) {
  return std::exp2(-std::numbers::ln2 * counters_per_member);
}

double counting_bloom_counters_per_member(double false_positive) {
  return -std::log2(false_positive) / std::numbers::ln2;
}

double counting_bloom_overflow_bound(unsigned hashes, std::size_t counters_per_hash, std::size_t n,
                                     unsigned counter_max) {
  const double m = counter_max + 1.0;
  const double log_p =
      log_choose(static_cast<double>(n), m) - m * std::log(static_cast<double>(counters_per_hash)) +
      std::log(static_cast<double>(hashes) * static_cast<double>(counters_per_hash));
  return std::min(1.0, std::exp(log_p));
}

double d_left_false_positive(std::size_t buckets, unsigned remainder_bits, std::size_t n) {
  const double space = std::ldexp(static_cast<double>(buckets), static_cast<int>(remainder_bits));
  return at_least_once(1.0 / space, static_cast<double>(n));
}

double d_left_false_positive(std::size_t buckets, unsigned remainder_bits, double n,
                             std::size_t groups, double spilled) {
  const double space = std::ldexp(static_cast<double>(buckets), static_cast<int>(remainder_bits));
  return -std::expm1(n * std::log1p(-1 / space) +
                     spilled * std::log1p(-1 / static_cast<double>(groups)));
}

double d_left_false_positive_at_load(unsigned sub_tables, unsigned cells, unsigned remainder_bits,
                                     double load) {
  return std::ldexp(load * cells * sub_tables, -static_cast<int>(remainder_bits));
}

double d_left_shared_bound(std::size_t buckets, unsigned remainder_bits, std::size_t n,
                           unsigned members) {
  const double space = std::ldexp(static_cast<double>(buckets), static_cast<int>(remainder_bits));
  const double log_p =
      log_choose(static_cast<double>(n), members) - (members - 1.0) * std::log(space);
  return std::min(1.0, std::exp(log_p));
}

} // namespace tandem::machine::filter
