// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What theory says of the filters' false positives and overflows, for keys that hash uniformly.
// Pure functions; every result is a probability in [0, 1] unless said.
#pragma once

#include <cstddef>

namespace tandem::machine::filter {

// A parallel counting Bloom filter: k banks of `counters_per_hash`, n members.
// (1 - (1 - 1/counters_per_hash)^n)^k. Exact but for the independence of the banks.
double counting_bloom_false_positive(unsigned hashes, std::size_t counters_per_hash, std::size_t n);

// The same at the best number of hashes, as a function of counters for each member only: (1/2)^(ln
// 2 m/n), about 0.6185^(m/n). FLASK, section IV.A, prints (ln 2)^(m/n), which is 0.693^(m/n).
double counting_bloom_best_false_positive(double counters_per_member);

// Counters for each member that the best filter needs for a rate: 6.2 at 5 %, where FLASK says 8.
double counting_bloom_counters_per_member(double false_positive);

// An upper bound: some counter of the k banks gets more than `counter_max` of n members (union
// bound over the binomial tail's first term).
double counting_bloom_overflow_bound(unsigned hashes, std::size_t counters_per_hash, std::size_t n,
                                     unsigned counter_max);

// A d-left filter in which every member has a cell: the key's fingerprint equals one of n members'.
// 1 - (1 - 1/(b 2^r))^n.
double d_left_false_positive(std::size_t buckets, unsigned remainder_bits, std::size_t n);

// The same with `spilled` further members that are counted in `groups`: or the key's group has one.
// 1 - (1 - 1/(b 2^r))^n (1 - 1/g)^s.
double d_left_false_positive(std::size_t buckets, unsigned remainder_bits, double n,
                             std::size_t groups, double spilled);

// The same by the load rho of the cells: rho c d 2^-r.
double d_left_false_positive_at_load(unsigned sub_tables, unsigned cells, unsigned remainder_bits,
                                     double load);

// An upper bound: some fingerprint has at least `members` of the n keys. C(n, m) (1/(b 2^r))^(m -
// 1): the first key chooses, the others must follow. FLASK prints the exponent m. A counter of k
// bits, in which 0 says that the cell is free, is full at 2^k - 1 members and cannot count 2^k.
double d_left_shared_bound(std::size_t buckets, unsigned remainder_bits, std::size_t n,
                           unsigned members);

} // namespace tandem::machine::filter
