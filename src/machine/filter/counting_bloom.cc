// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/filter/counting_bloom.h"

#include "base/check.h"
#include "machine/filter/hash.h"

#include <algorithm>
#include <bit>

namespace tandem::machine::filter {

CountingBloom::CountingBloom(const CountingBloomParameters &parameters)
    : parameters_(parameters),
      index_bits_(static_cast<unsigned>(std::countr_zero(parameters.counters_per_hash))) {
  CHECK(parameters.hashes >= 1 && parameters.hashes <= 16, "{} hashes", parameters.hashes);
  CHECK(std::has_single_bit(parameters.counters_per_hash) &&
            parameters.counters_per_hash <= (std::size_t{1} << 28),
        "{} counters for each hash", parameters.counters_per_hash);
  for (unsigned hash = 0; hash < parameters.hashes; ++hash)
    salts_.push_back(mix(parameters.seed * 64 + hash + 1));
  counters_.assign((parameters.hashes * parameters.counters_per_hash + 1) / 2, 0);
  excess_.reserve(16);
}

std::size_t CountingBloom::index(unsigned hash, std::uint64_t key) const {
  const std::uint64_t mixed = mix(key ^ salts_[hash]);
  return (std::size_t{hash} << index_bits_) + (mixed & (parameters_.counters_per_hash - 1));
}

unsigned CountingBloom::value(std::size_t counter) const {
  return (counters_[counter / 2] >> (counter % 2 * kCounterBits)) & kCounterMax;
}

void CountingBloom::set(std::size_t counter, unsigned value) {
  const unsigned shift = counter % 2 * kCounterBits;
  const unsigned other = counters_[counter / 2] & ~(kCounterMax << shift);
  counters_[counter / 2] = static_cast<std::uint8_t>(other | value << shift);
}

bool CountingBloom::may_contain(std::uint64_t key) const {
  for (unsigned hash = 0; hash < parameters_.hashes; ++hash)
    if (value(index(hash, key)) == 0)
      return false;
  return true;
}

Inserted CountingBloom::insert(std::uint64_t key) {
  Inserted result;
  for (unsigned hash = 0; hash < parameters_.hashes; ++hash) {
    const std::size_t counter = index(hash, key);
    const unsigned old = value(counter);
    if (old == kCounterMax) {
      add_excess(counter);
      result.spilled = true;
    } else {
      set(counter, old + 1);
    }
    result.saturated |= old + 1 >= kCounterMax;
  }
  ++members_;
  return result;
}

void CountingBloom::erase(std::uint64_t key) {
  CHECK(members_ > 0, "the filter is empty; erasing {:#x}", key);
  for (unsigned hash = 0; hash < parameters_.hashes; ++hash) {
    const std::size_t counter = index(hash, key);
    if (take_excess(counter))
      continue;
    const unsigned old = value(counter);
    CHECK(old > 0, "counter {} is 0; erasing {:#x}, which is no member", counter, key);
    set(counter, old - 1);
  }
  --members_;
}

bool CountingBloom::shares_full_counter(std::uint64_t key, std::uint64_t other) const {
  for (unsigned hash = 0; hash < parameters_.hashes; ++hash) {
    const std::size_t counter = index(hash, key);
    if (counter == index(hash, other) && value(counter) == kCounterMax)
      return true;
  }
  return false;
}

bool CountingBloom::empty() const {
  return excess_.empty() &&
         std::ranges::all_of(counters_, [](std::uint8_t pair) { return pair == 0; });
}

void CountingBloom::add_excess(std::size_t counter) {
  const auto entry = std::ranges::find(excess_, counter, &Excess::counter);
  if (entry != excess_.end()) {
    ++entry->count;
    return;
  }
  excess_.push_back({.counter = counter, .count = 1});
  peak_excess_ = std::max(peak_excess_, excess_.size());
}

// The excess goes first: a counter leaves its largest value only when nothing is left beside it.
bool CountingBloom::take_excess(std::size_t counter) {
  if (excess_.empty() || value(counter) != kCounterMax)
    return false;
  const auto entry = std::ranges::find(excess_, counter, &Excess::counter);
  if (entry == excess_.end())
    return false;
  if (--entry->count == 0) {
    *entry = excess_.back();
    excess_.pop_back();
  }
  return true;
}

} // namespace tandem::machine::filter
