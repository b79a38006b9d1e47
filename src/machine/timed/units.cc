// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/timed/units.h"

#include "machine/filter/analytic.h"

#include <algorithm>
#include <bit>

namespace tandem::machine::timed {

filter::PresenceParameters filter_parameters(const Configuration &configuration, std::uint64_t seed,
                                             bool exact_set_beside, bool spill_groups) {
  const FilterConfiguration &given = configuration.filter;
  // The hashes need a power of two.
  const std::uint32_t rows =
      std::max<std::uint32_t>(std::bit_floor(configuration.directory_sets()), 2);
  filter::PresenceParameters parameters;
  parameters.kind = given.kind;
  parameters.exact_set_beside = exact_set_beside;
  // What the cells leave of a row counts the members that find none: in as many groups as it has
  // room for, or all in one.
  const std::uint32_t left =
      kFilterRowBits - given.cells * (given.remainder_bits + given.counter_bits);
  parameters.d_left = {.sub_tables = given.sub_tables,
                       .buckets = rows,
                       .cells = given.cells,
                       .remainder_bits = given.remainder_bits,
                       .counter_bits = given.counter_bits,
                       .spill_counters =
                           spill_groups ? std::max(left / filter::DLeft::kSpillBits, 1U) : 1U,
                       .seed = seed};
  parameters.counting_bloom = filter::counting_bloom_in_ways(given.sub_tables, rows, seed);
  return parameters;
}

double expected_false_positives(const Configuration &configuration, double members, double spilled,
                                bool spill_groups) {
  const filter::PresenceParameters parameters =
      filter_parameters(configuration, 1, false, spill_groups);
  const auto n = static_cast<std::size_t>(members + 0.5);
  switch (parameters.kind) {
  case filter::Kind::always_hit:
    return 1;
  case filter::Kind::exact:
    return 0;
  case filter::Kind::counting_bloom:
    return filter::counting_bloom_false_positive(parameters.counting_bloom.hashes,
                                                 parameters.counting_bloom.counters_per_hash, n);
  case filter::Kind::d_left:
    return filter::d_left_false_positive(parameters.d_left.buckets,
                                         parameters.d_left.remainder_bits, members - spilled,
                                         filter::DLeft(parameters.d_left).groups(), spilled);
  }
  return 0;
}

} // namespace tandem::machine::timed
