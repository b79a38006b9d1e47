// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A counting Bloom filter, parallel form: each of k hashes has a bank of counters of its own, so a
// lookup reads one counter in each of k single-ported memories. Counters have four bits.
//
// Exactness. A counter that is full keeps its value, and what it could not count is kept beside it
// in an associative list of excesses (a hardware CAM; `peak_excess_entries` says how large it had
// to be). So, for each counter c:   value(c) + excess(c) == number of members that hash to c, and
// there is no false negative and no leak whatever the load. The caller learns of a full counter and
// may purge the blocks that share it, as the paper proposes; correctness does not rest on that.
//
// One thread. Allocates only when it is made and when the list of excesses grows past its largest
// size yet.
//
// Source: Fan et al., Summary Cache (counting Bloom filter); FLASK, sections III.B and IV.A.
#pragma once

#include "machine/filter/outcome.h"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tandem::machine::filter {

struct CountingBloomParameters {
  unsigned hashes = 4;                // k: 1 to 16
  std::size_t counters_per_hash = 32; // a power of 2, up to 2^28
  std::uint64_t seed = 1;             // of the hash functions
};

class CountingBloom {
public:
  static constexpr unsigned kCounterBits = 4;
  static constexpr unsigned kCounterMax = (1U << kCounterBits) - 1;

  explicit CountingBloom(const CountingBloomParameters &parameters);

  // No false negative: true for every member. `key` is any number that stands for the block.
  [[nodiscard]] bool may_contain(std::uint64_t key) const;
  // Adds a key that is not a member. Reports `saturated` when a counter of the key is now full.
  Inserted insert(std::uint64_t key);
  // Removes a member. Removing what is not a member is our bug: CHECK where it can be seen.
  void erase(std::uint64_t key);
  // Whether the two keys share a counter that is full: what a purge for `key` must evict.
  [[nodiscard]] bool shares_full_counter(std::uint64_t key, std::uint64_t other) const;

  [[nodiscard]] std::size_t members() const { return members_; }
  [[nodiscard]] bool empty() const; // every counter and excess is 0: linear
  [[nodiscard]] std::size_t excess_entries() const { return excess_.size(); }
  [[nodiscard]] std::size_t peak_excess_entries() const { return peak_excess_; }
  [[nodiscard]] const CountingBloomParameters &parameters() const { return parameters_; }
  [[nodiscard]] std::size_t storage_bits() const {
    return parameters_.hashes * parameters_.counters_per_hash * kCounterBits;
  }

private:
  struct Excess {
    std::size_t counter;
    std::uint32_t count; // > 0
  };

  [[nodiscard]] std::size_t index(unsigned hash, std::uint64_t key) const;
  [[nodiscard]] unsigned value(std::size_t counter) const;
  void set(std::size_t counter, unsigned value);
  void add_excess(std::size_t counter);
  bool take_excess(std::size_t counter);

  CountingBloomParameters parameters_;
  unsigned index_bits_;
  std::vector<std::uint64_t> salts_;   // one a hash
  std::vector<std::uint8_t> counters_; // two to a byte: the even one in the low half
  std::vector<Excess> excess_;
  std::size_t peak_excess_ = 0;
  std::size_t members_ = 0;
};

} // namespace tandem::machine::filter
