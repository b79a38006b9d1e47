// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A d-left counting Bloom filter whose sub-tables can be taken away and given back while it is in
// use.
//
// A block number is hashed once, to a *fingerprint* of q = log2(buckets) + r bits. Each sub-table i
// has a bijection P_i on q bits; the high bits of P_i(fingerprint) choose the bucket there, the low
// r bits are the remainder that its cell stores. Because all d places come from one fingerprint by
// bijections, two keys share all their places or none, and (an insertion looks for its fingerprint
// first):
//   (1) at most one cell, over all sub-tables, stands for a fingerprint;
//   (2) count(cell of f) + spilled(f) == number of members with fingerprint f;
//   (3) spill(g) == sum of spilled(f) over the fingerprints f of group g.
// A member is spilled when no candidate bucket has a free cell or when its cell's counter is full.
// Only the sum (3) is stored, one number for each group (chosen by a bijection of its own). A
// lookup hits where the group's sum is not 0; an erasure takes the cell of f if there is one and
// the group's sum if there is none, which by (2) then counts a member of f. Hence: no false
// negative, no leak, and the filter cleans itself.
//
// The sums are counters of four bits in what the cells leave of a row's 128 bits: 8 cells of 12
// bits leave room for 8. There are as many as the sub-tables of the beginning have, and they stay
// where they are when a row becomes a directory's, whose entry needs 64 bits. A sum beyond 15 has
// its excess in a list beside them, as in counting_bloom.h; `peak_excess_groups` says how long.
//
// A sub-table is *active*, *draining* (lookups and counters still use it, nothing new goes in) or
// *lent* (empty; its memory is a directory way). `drain_step` moves one bucket at a time: the
// fingerprint of each cell is recovered by P_i^-1 and the cell is placed again, with its count, in
// the active sub-tables.
//
// One thread. Allocates only when it is made.
//
// Source: Bonomi et al., An Improved Construction for Counting Bloom Filters (ESA 2006), section 3;
// FLASK, sections IV.A and IV.B. Neither says what a full bucket does; see
// docs/design/0022-flask.md.
#pragma once

#include "machine/filter/hash.h"
#include "machine/filter/outcome.h"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::machine::filter {

inline constexpr unsigned kMaxSubTables = 8; // the ways of one SRAM set that a slice shares out

struct DLeftParameters {
  unsigned sub_tables = 4;     // active at first: 0 to 8, numbered from 0
  std::size_t buckets = 256;   // of each sub-table: a power of 2, 2 to 2^20
  unsigned cells = 8;          // of each bucket: 1 to 16
  unsigned remainder_bits = 9; // r: 1 to 15; r + k <= 16, r + log2(buckets) <= 32
  unsigned counter_bits = 3;   // k: 1 to 8
  unsigned spill_counters = 8; // of each bucket: 1 to 32
  std::uint64_t seed = 1;      // of the hash and the bijections
};

enum class SubTable : std::uint8_t { lent, draining, active };

class DLeft {
public:
  static constexpr unsigned kSpillBits = 4;

  explicit DLeft(const DLeftParameters &parameters);

  // No false negative: true for every member. `key` is any number that stands for the block.
  [[nodiscard]] bool may_contain(std::uint64_t key) const;
  // Adds a key that is not a member. `saturated`: its cell's counter is full. `spilled`: no room.
  Inserted insert(std::uint64_t key);
  // Removes a member. Removing what is not a member is our bug: CHECK where it can be seen.
  void erase(std::uint64_t key);
  // Whether the two keys have one fingerprint: what a purge for `key` must evict.
  [[nodiscard]] bool same_fingerprint(std::uint64_t key, std::uint64_t other) const {
    return fingerprint(key) == fingerprint(other);
  }

  // Starts to use an empty sub-table that was lent. CHECKs that it was.
  void adopt(unsigned sub_table);
  // Stops insertions into an active sub-table; drain_step must then be called until it returns
  // true.
  void begin_drain(unsigned sub_table);
  // Moves the cells of one bucket. True when the last bucket is done: the sub-table is then lent.
  bool drain_step(unsigned sub_table);
  // The bucket that drain_step moves next.
  [[nodiscard]] std::size_t drain_progress(unsigned sub_table) const { return drained_[sub_table]; }

  [[nodiscard]] SubTable state(unsigned sub_table) const { return states_[sub_table]; }
  [[nodiscard]] unsigned active() const;
  [[nodiscard]] std::size_t members() const { return members_; }
  [[nodiscard]] std::size_t spilled() const { return spilled_; } // members without a cell, now
  [[nodiscard]] std::size_t used_cells() const;                  // linear
  [[nodiscard]] std::uint32_t largest_spill() const { return largest_spill_; } // of a group, ever
  [[nodiscard]] double spilled_groups() const; // fraction whose lookups all hit; linear
  [[nodiscard]] bool empty() const { return members_ == 0 && spilled_ == 0 && used_cells() == 0; }
  [[nodiscard]] const DLeftParameters &parameters() const { return parameters_; }
  // Groups whose sum did not fit its four bits, at most at one time.
  [[nodiscard]] std::size_t peak_excess_groups() const { return peak_excess_groups_; }
  [[nodiscard]] std::size_t groups() const { return spills_.size(); }
  // Of the active sub-tables and of the sums.
  [[nodiscard]] std::size_t storage_bits() const;
  // Verifies (1) and the sums of (2) and (3) as far as they can be seen without the keys; linear.
  [[nodiscard]] bool consistent() const;

private:
  // A cell, in 16 bits: counter in the low k bits (0: the cell is free), remainder in the r bits
  // above.
  using Cell = std::uint16_t;
  struct Place {
    std::size_t first; // index of the bucket's first cell
    Cell remainder;    // already shifted to its place in a cell
  };

  [[nodiscard]] std::uint32_t fingerprint(std::uint64_t key) const {
    return static_cast<std::uint32_t>(mix(key ^ salt_) >> (64 - fingerprint_bits_));
  }
  [[nodiscard]] Place place(unsigned sub_table, std::uint32_t fingerprint) const;
  [[nodiscard]] std::size_t group(std::uint32_t fingerprint) const;
  [[nodiscard]] std::size_t find(std::uint32_t fingerprint) const; // kNone or the cell's index
  [[nodiscard]] unsigned used(std::size_t first) const;
  [[nodiscard]] bool put(std::uint32_t fingerprint, unsigned count); // false: no free cell
  void spill(std::uint32_t fingerprint, std::uint32_t count);

  static constexpr std::size_t kNone = ~std::size_t{0};
  static constexpr unsigned kSpillMax = (1U << kSpillBits) - 1;

  DLeftParameters parameters_;
  unsigned bucket_bits_;
  unsigned fingerprint_bits_;
  unsigned counter_max_;
  std::uint64_t salt_;
  std::array<Permutation, kMaxSubTables> permutations_;
  Permutation group_permutation_;
  std::array<SubTable, kMaxSubTables> states_{};
  std::array<std::size_t, kMaxSubTables> drained_{};
  std::vector<Cell> cells_; // [sub-table][bucket][cell]
  std::vector<std::uint32_t> spills_;
  std::size_t spilled_ = 0;
  std::size_t members_ = 0;
  std::uint32_t largest_spill_ = 0;
  std::size_t excess_groups_ = 0;
  std::size_t peak_excess_groups_ = 0;
};

} // namespace tandem::machine::filter
