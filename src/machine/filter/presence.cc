// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/filter/presence.h"

#include "base/check.h"

#include <algorithm>
#include <iterator>

namespace tandem::machine::filter {

std::string_view name(Kind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<Kind> kind_from_name(std::string_view name) {
  const auto *const found = std::ranges::find(kKindNames, name);
  if (found == std::end(kKindNames))
    return std::nullopt;
  return static_cast<Kind>(found - std::begin(kKindNames));
}

CountingBloomParameters counting_bloom_in_ways(unsigned sub_tables, std::size_t rows,
                                               std::uint64_t seed) {
  return {.hashes = sub_tables, .counters_per_hash = rows * 32, .seed = seed};
}

Presence::Presence(const PresenceParameters &parameters) : kind_(parameters.kind) {
  if (kind_ == Kind::d_left)
    d_left_.emplace(parameters.d_left);
  if (kind_ == Kind::counting_bloom)
    counting_bloom_.emplace(parameters.counting_bloom);
  if (kind_ == Kind::exact || parameters.exact_set_beside)
    exact_.emplace();
}

bool Presence::peek(std::uint64_t block) const {
  switch (kind_) {
  case Kind::always_hit:
    return true;
  case Kind::exact:
    return exact_->contains(block);
  case Kind::counting_bloom:
    return counting_bloom_->may_contain(block);
  case Kind::d_left:
    return d_left_->may_contain(block);
  }
  return true;
}

bool Presence::lookup(std::uint64_t block) {
  const bool hit = peek(block);
  ++statistics_.lookups;
  statistics_.hits += hit;
  if (exact_) {
    const bool member = exact_->contains(block);
    CHECK(hit || !member, "false negative of the {} filter, block {:#x}", name(kind_), block);
    statistics_.false_positives += hit && !member;
  }
  return hit;
}

Inserted Presence::insert(std::uint64_t block) {
  if (exact_)
    exact_->insert(block);
  Inserted result;
  if (d_left_)
    result = d_left_->insert(block);
  else if (counting_bloom_)
    result = counting_bloom_->insert(block);
  ++members_;
  ++statistics_.inserts;
  statistics_.saturations += result.saturated;
  statistics_.spills += result.spilled;
  statistics_.peak_members = std::max(statistics_.peak_members, members_);
  return result;
}

void Presence::erase(std::uint64_t block) {
  if (exact_)
    exact_->erase(block);
  if (d_left_)
    d_left_->erase(block);
  else if (counting_bloom_)
    counting_bloom_->erase(block);
  --members_;
  ++statistics_.erases;
}

bool Presence::purged_with(std::uint64_t block, std::uint64_t other) const {
  if (d_left_)
    return d_left_->same_fingerprint(block, other);
  if (counting_bloom_)
    return counting_bloom_->shares_full_counter(block, other);
  return block == other;
}

DLeft &Presence::d_left() {
  CHECK(d_left_.has_value(), "a {} filter has no sub-tables", name(kind_));
  return *d_left_;
}

void Presence::reset_statistics() {
  statistics_ = {};
  statistics_.peak_members = members_;
}

} // namespace tandem::machine::filter
