// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/filter/d_left.h"

#include "base/check.h"

#include <algorithm>
#include <bit>
#include <numeric>
#include <unordered_set>

namespace tandem::machine::filter {

DLeft::DLeft(const DLeftParameters &parameters)
    : parameters_(parameters),
      bucket_bits_(static_cast<unsigned>(std::countr_zero(parameters.buckets))),
      fingerprint_bits_(bucket_bits_ + parameters.remainder_bits),
      counter_max_((1U << parameters.counter_bits) - 1), salt_(mix(parameters.seed)) {
  CHECK(parameters.sub_tables <= kMaxSubTables, "{} sub-tables", parameters.sub_tables);
  CHECK(std::has_single_bit(parameters.buckets) && parameters.buckets >= 2 &&
            parameters.buckets <= (std::size_t{1} << 20),
        "{} buckets", parameters.buckets);
  CHECK(parameters.cells >= 1 && parameters.cells <= 16, "{} cells", parameters.cells);
  CHECK(parameters.remainder_bits >= 1 && parameters.counter_bits >= 1 &&
            parameters.remainder_bits + parameters.counter_bits <= 16 && fingerprint_bits_ <= 32,
        "remainder of {} bits, counter of {}, {} buckets", parameters.remainder_bits,
        parameters.counter_bits, parameters.buckets);
  CHECK(parameters.spill_counters >= 1 && parameters.spill_counters <= 32, "{} spill counters",
        parameters.spill_counters);
  for (unsigned i = 0; i < kMaxSubTables; ++i)
    permutations_[i] = Permutation(fingerprint_bits_, parameters.seed * 64 + i + 1);
  group_permutation_ = Permutation(fingerprint_bits_, parameters.seed * 64 + kMaxSubTables + 1);
  std::fill_n(states_.begin(), parameters.sub_tables, SubTable::active);
  cells_.assign(kMaxSubTables * parameters.buckets * parameters.cells, 0);
  spills_.assign(
      std::max(parameters.sub_tables, 1U) * parameters.buckets * parameters.spill_counters, 0);
}

DLeft::Place DLeft::place(unsigned sub_table, std::uint32_t fingerprint) const {
  const std::uint32_t y = permutations_[sub_table].apply(fingerprint);
  const std::size_t bucket = sub_table * parameters_.buckets + (y >> parameters_.remainder_bits);
  const std::uint32_t remainder = y & ((1U << parameters_.remainder_bits) - 1);
  return {.first = bucket * parameters_.cells,
          .remainder = static_cast<Cell>(remainder << parameters_.counter_bits)};
}

std::size_t DLeft::group(std::uint32_t fingerprint) const {
  return std::uint64_t{group_permutation_.apply(fingerprint)} * spills_.size() >> fingerprint_bits_;
}

// A cell holds the remainder with a counter above 0 exactly if cell ^ remainder is 1 to
// counter_max_.
std::size_t DLeft::find(std::uint32_t fingerprint) const {
  for (unsigned i = 0; i < kMaxSubTables; ++i) {
    if (states_[i] == SubTable::lent)
      continue;
    const Place p = place(i, fingerprint);
    for (unsigned c = 0; c < parameters_.cells; ++c)
      if (static_cast<unsigned>(cells_[p.first + c] ^ p.remainder) - 1U < counter_max_)
        return p.first + c;
  }
  return kNone;
}

bool DLeft::may_contain(std::uint64_t key) const {
  const std::uint32_t f = fingerprint(key);
  return spills_[group(f)] != 0 || find(f) != kNone;
}

unsigned DLeft::used(std::size_t first) const {
  unsigned n = 0;
  for (unsigned c = 0; c < parameters_.cells; ++c)
    n += (cells_[first + c] & counter_max_) != 0;
  return n;
}

// The emptiest candidate bucket, the left-most of equals.
bool DLeft::put(std::uint32_t fingerprint, unsigned count) {
  Place best{};
  unsigned least = parameters_.cells;
  for (unsigned i = 0; i < kMaxSubTables; ++i) {
    if (states_[i] != SubTable::active)
      continue;
    const Place p = place(i, fingerprint);
    const unsigned n = used(p.first);
    if (n < least) {
      least = n;
      best = p;
    }
  }
  if (least == parameters_.cells)
    return false;
  for (unsigned c = 0; c < parameters_.cells; ++c)
    if ((cells_[best.first + c] & counter_max_) == 0) {
      cells_[best.first + c] = static_cast<Cell>(best.remainder | count);
      return true;
    }
  return false;
}

void DLeft::spill(std::uint32_t fingerprint, std::uint32_t count) {
  std::uint32_t &sum = spills_[group(fingerprint)];
  excess_groups_ += sum <= kSpillMax && sum + count > kSpillMax ? 1 : 0;
  peak_excess_groups_ = std::max(peak_excess_groups_, excess_groups_);
  sum += count;
  spilled_ += count;
  largest_spill_ = std::max(largest_spill_, sum);
}

Inserted DLeft::insert(std::uint64_t key) {
  const std::uint32_t f = fingerprint(key);
  ++members_;
  const std::size_t cell = find(f);
  if (cell != kNone) {
    const unsigned count = cells_[cell] & counter_max_;
    if (count == counter_max_) {
      spill(f, 1);
      return {.saturated = true, .spilled = true};
    }
    ++cells_[cell];
    return {.saturated = count + 1 == counter_max_, .spilled = false};
  }
  if (put(f, 1))
    return {.saturated = counter_max_ == 1, .spilled = false};
  spill(f, 1);
  return {.saturated = false, .spilled = true};
}

void DLeft::erase(std::uint64_t key) {
  const std::uint32_t f = fingerprint(key);
  CHECK(members_ > 0, "the filter is empty; erasing {:#x}", key);
  --members_;
  const std::size_t cell = find(f);
  if (cell == kNone) {
    std::uint32_t &sum = spills_[group(f)];
    CHECK(sum > 0, "{:#x} has neither a cell nor a spilled member; it is no member", key);
    excess_groups_ -= sum == kSpillMax + 1 ? 1 : 0;
    --sum;
    --spilled_;
    return;
  }
  --cells_[cell];
  if ((cells_[cell] & counter_max_) == 0)
    cells_[cell] = 0;
}

void DLeft::adopt(unsigned sub_table) {
  CHECK(sub_table < kMaxSubTables && states_[sub_table] == SubTable::lent, "sub-table {}",
        sub_table);
  states_[sub_table] = SubTable::active;
}

void DLeft::begin_drain(unsigned sub_table) {
  CHECK(sub_table < kMaxSubTables && states_[sub_table] == SubTable::active, "sub-table {}",
        sub_table);
  states_[sub_table] = SubTable::draining;
  drained_[sub_table] = 0;
}

bool DLeft::drain_step(unsigned sub_table) {
  CHECK(sub_table < kMaxSubTables && states_[sub_table] == SubTable::draining, "sub-table {}",
        sub_table);
  const std::size_t bucket = drained_[sub_table]++;
  const std::size_t first = (sub_table * parameters_.buckets + bucket) * parameters_.cells;
  for (unsigned c = 0; c < parameters_.cells; ++c) {
    const Cell cell = cells_[first + c];
    const unsigned count = cell & counter_max_;
    if (count == 0)
      continue;
    const auto y = static_cast<std::uint32_t>(bucket << parameters_.remainder_bits |
                                              cell >> parameters_.counter_bits);
    const std::uint32_t f = permutations_[sub_table].invert(y);
    cells_[first + c] = 0;
    if (!put(f, count))
      spill(f, count);
  }
  // A counter that grows in a bucket already moved is not possible: that bucket is empty and stays
  // so.
  if (drained_[sub_table] < parameters_.buckets)
    return false;
  states_[sub_table] = SubTable::lent;
  return true;
}

unsigned DLeft::active() const {
  return static_cast<unsigned>(std::ranges::count(states_, SubTable::active));
}

std::size_t DLeft::used_cells() const {
  return static_cast<std::size_t>(
      std::ranges::count_if(cells_, [&](Cell cell) { return (cell & counter_max_) != 0; }));
}

double DLeft::spilled_groups() const {
  const auto n = std::ranges::count_if(spills_, [](std::uint32_t sum) { return sum != 0; });
  return static_cast<double>(n) / static_cast<double>(spills_.size());
}

std::size_t DLeft::storage_bits() const {
  return active() * parameters_.buckets * parameters_.cells *
             (parameters_.remainder_bits + parameters_.counter_bits) +
         spills_.size() * kSpillBits;
}

bool DLeft::consistent() const {
  std::unordered_set<std::uint32_t> seen;
  std::size_t counted = 0;
  for (unsigned i = 0; i < kMaxSubTables; ++i)
    for (std::size_t n = 0; n < parameters_.buckets * parameters_.cells; ++n) {
      const Cell cell = cells_[i * parameters_.buckets * parameters_.cells + n];
      if ((cell & counter_max_) == 0)
        continue;
      const auto y = static_cast<std::uint32_t>(
          n / parameters_.cells << parameters_.remainder_bits | cell >> parameters_.counter_bits);
      if (states_[i] == SubTable::lent || !seen.insert(permutations_[i].invert(y)).second)
        return false;
      counted += cell & counter_max_;
    }
  const std::size_t spilled = std::accumulate(spills_.begin(), spills_.end(), std::size_t{0});
  return spilled == spilled_ && counted + spilled == members_;
}

} // namespace tandem::machine::filter
