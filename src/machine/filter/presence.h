// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The filter of one home slice, of any kind, behind one interface: which blocks may some private
// cache hold? Counts what it is asked and how often it was wrong; beside it, on request (and always
// in debug builds), the exact set, against which every answer is checked.
//
// A lookup is a false positive when it hits and the block is no member. Which lookups those were is
// known only beside an exact set, so `statistics().false_positives` stays 0 without one.
//
// One thread; no virtual call; steady state allocates only in the exact set.
#pragma once

#include "machine/filter/counting_bloom.h"
#include "machine/filter/d_left.h"
#include "machine/filter/exact_set.h"
#include "machine/filter/outcome.h"

#include <cstdint>
#include <optional>
#include <string_view>

namespace tandem::machine::filter {

enum class Kind : std::uint8_t {
  always_hit,     // no filter at all: every lookup hits
  exact,          // an ideal filter without false positives
  counting_bloom, // four-bit counters, one bank for each hash
  d_left,         // d-left counting Bloom filter
};
inline constexpr std::string_view kKindNames[] = {"always-hit", "exact", "counting-bloom",
                                                  "d-left"};

std::string_view name(Kind kind);
std::optional<Kind> kind_from_name(std::string_view name);

struct PresenceParameters {
  Kind kind = Kind::d_left;
  DLeftParameters d_left;
  CountingBloomParameters counting_bloom;
  bool exact_set_beside = false; // every lookup is compared with it (slower, allocates)
};

// A counting Bloom filter on the memory of `sub_tables` ways: each way is the bank of one hash
// function. 16 bytes of each way's row are 32 counters of 4 bits.
CountingBloomParameters counting_bloom_in_ways(unsigned sub_tables, std::size_t rows,
                                               std::uint64_t seed);

struct PresenceStatistics {
  std::uint64_t lookups = 0;
  std::uint64_t hits = 0;
  std::uint64_t false_positives = 0; // needs an exact set
  std::uint64_t inserts = 0;
  std::uint64_t erases = 0;
  std::uint64_t saturations = 0; // insertions that left a counter full
  std::uint64_t spills = 0;      // insertions that found no room
  std::uint64_t peak_members = 0;

  // Of the lookups of blocks that were no members; 0 when there were none. Needs an exact set.
  [[nodiscard]] double false_positive_rate() const {
    const std::uint64_t negatives = lookups - hits + false_positives;
    return negatives == 0 ? 0.0
                          : static_cast<double>(false_positives) / static_cast<double>(negatives);
  }
};

class Presence {
public:
  explicit Presence(const PresenceParameters &parameters);

  // As the filters': false only if the block is no member. Counted.
  [[nodiscard]] bool lookup(std::uint64_t block);
  // The same, uncounted: for checks and displays.
  [[nodiscard]] bool peek(std::uint64_t block) const;
  Inserted insert(std::uint64_t block); // of a block that is no member
  void erase(std::uint64_t block);      // of a member
  // Whether a purge that starts with `block` must evict `other` too.
  [[nodiscard]] bool purged_with(std::uint64_t block, std::uint64_t other) const;

  // Repartitioning; CHECKs that the kind is d_left.
  [[nodiscard]] DLeft &d_left();
  [[nodiscard]] const DLeft *d_left_or_null() const { return d_left_ ? &*d_left_ : nullptr; }

  [[nodiscard]] Kind kind() const { return kind_; }
  [[nodiscard]] std::uint64_t members() const { return members_; }
  [[nodiscard]] const PresenceStatistics &statistics() const { return statistics_; }
  void reset_statistics(); // keeps the members; the peak starts anew from them
  [[nodiscard]] const ExactSet *exact_set() const { return exact_ ? &*exact_ : nullptr; }

private:
  Kind kind_;
  std::optional<DLeft> d_left_;
  std::optional<CountingBloom> counting_bloom_;
  std::optional<ExactSet> exact_; // the kind `exact` itself, or beside another
  std::uint64_t members_ = 0;
  PresenceStatistics statistics_;
};

} // namespace tandem::machine::filter
