// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A set-associative array of lines with a tag: caches, directories. It knows nothing of coherence:
// a line carries a Payload. Replacement: LRU, FIFO, tree PLRU (ways a power of two), random.
//
// For one thread. Lines are named by their index, set * ways + way, which is valid as long as the
// line stays; no operation but the constructor allocates.
// Invariant: a tag is in its set at most once.
#pragma once

#include "base/check.h"

#include <bit>
#include <cstdint>
#include <vector>

namespace tandem::machine {

enum class Replacement : std::uint8_t { lru, fifo, tree_plru, random };

struct ArrayShape {
  std::uint32_t sets = 1;
  std::uint32_t ways = 1;
  Replacement replacement = Replacement::lru;
  // The set of a block is (block / divisor) % sets: `divisor` is the number of slices that blocks
  // are interleaved over, 1 for a private array.
  std::uint32_t divisor = 1;
};

template <typename Payload> class SetAssociativeArray {
public:
  using Index = std::uint32_t;
  static constexpr Index kNone = ~Index{0};

  explicit SetAssociativeArray(const ArrayShape &shape)
      : shape_(shape),
        set_shift_(std::has_single_bit(shape.divisor) ? std::countr_zero(shape.divisor) : -1),
        mask_(std::has_single_bit(shape.sets) ? shape.sets - 1 : 0),
        tags_(std::size_t{shape.sets} * shape.ways, kFree), stamps_(tags_.size(), 0),
        payloads_(tags_.size()), usable_(shape.ways),
        trees_(shape.replacement == Replacement::tree_plru ? shape.sets : 0) {
    CHECK(shape.sets > 0 && shape.ways > 0 && shape.divisor > 0);
    CHECK(shape.replacement != Replacement::tree_plru ||
          (std::has_single_bit(shape.ways) && shape.ways <= 64));
  }

  [[nodiscard]] const ArrayShape &shape() const { return shape_; }
  [[nodiscard]] std::size_t lines() const { return tags_.size(); }
  [[nodiscard]] std::size_t used() const { return used_; }

  [[nodiscard]] std::uint32_t set_of(std::uint64_t block) const {
    const std::uint64_t local = set_shift_ >= 0 ? block >> set_shift_ : block / shape_.divisor;
    if (mask_ != 0 || shape_.sets == 1)
      return static_cast<std::uint32_t>(local & mask_);
    return static_cast<std::uint32_t>(local % shape_.sets);
  }

  // The line of `block`, or kNone. Does not count as a use.
  [[nodiscard]] Index find(std::uint64_t block) const {
    const std::size_t first = std::size_t{set_of(block)} * shape_.ways;
    const std::uint64_t *tags = tags_.data() + first;
    for (std::uint32_t way = 0; way < shape_.ways; ++way)
      if (tags[way] == block)
        return static_cast<Index>(first + way);
    return kNone;
  }

  // The line was used: matters for LRU and tree PLRU.
  void touch(Index line) {
    if (shape_.replacement == Replacement::lru)
      stamps_[line] = ++clock_;
    else if (shape_.replacement == Replacement::tree_plru)
      point_away(line);
  }

  // Where touch() writes, for who does it himself: stamp(line) = ++stamps(). LRU only; FIFO and
  // random take no notice of use.
  [[nodiscard]] bool touch_is_stamp() const { return shape_.replacement == Replacement::lru; }
  [[nodiscard]] bool touch_is_nothing() const {
    return shape_.replacement == Replacement::fifo || shape_.replacement == Replacement::random;
  }
  [[nodiscard]] std::uint64_t &stamp(Index line) { return stamps_[line]; }
  [[nodiscard]] std::uint64_t &stamps() { return clock_; }

  // Any free line of the set of `block`, or kNone.
  [[nodiscard]] Index free_line(std::uint64_t block) const {
    const std::size_t first = std::size_t{set_of(block)} * shape_.ways;
    for (std::uint32_t way = 0; way < usable_; ++way)
      if (tags_[first + way] == kFree)
        return static_cast<Index>(first + way);
    return kNone;
  }

  // The line of the set of `block` that the policy gives up first among those for which
  // `allowed(index)` holds; kNone if there is none. The set may have free lines; they are not
  // candidates. Random and tree PLRU take the policy's choice if it is allowed, else the next
  // allowed way after it.
  template <typename Allowed> [[nodiscard]] Index victim(std::uint64_t block, Allowed allowed) {
    const std::size_t first = std::size_t{set_of(block)} * shape_.ways;
    if (shape_.replacement == Replacement::lru || shape_.replacement == Replacement::fifo)
      return oldest(first, allowed);
    const std::uint32_t start = shape_.replacement == Replacement::random
                                    ? static_cast<std::uint32_t>(next_random() % shape_.ways)
                                    : tree_choice(static_cast<std::uint32_t>(first / shape_.ways));
    for (std::uint32_t step = 0; step < shape_.ways; ++step) {
      const auto line = static_cast<Index>(first + (start + step) % shape_.ways);
      if (tags_[line] != kFree && allowed(line))
        return line;
    }
    return kNone;
  }
  [[nodiscard]] Index victim(std::uint64_t block) {
    return victim(block, [](Index) { return true; });
  }

  // Puts `block`, which the array must not hold, into a free line of its set.
  void fill(Index line, std::uint64_t block) {
    CHECK(tags_[line] == kFree && line / shape_.ways == set_of(block));
    tags_[line] = block;
    stamps_[line] = ++clock_;
    if (shape_.replacement == Replacement::tree_plru)
      point_away(line);
    ++used_;
  }

  // Only the first `ways` of each set get new lines. The others must be free.
  void use_ways(std::uint32_t ways) {
    CHECK(ways >= 1 && ways <= shape_.ways);
    usable_ = ways;
  }
  [[nodiscard]] std::uint32_t usable_ways() const { return usable_; }

  // Frees a line in use.
  void free(Index line) {
    CHECK(tags_[line] != kFree);
    tags_[line] = kFree;
    --used_;
  }

  [[nodiscard]] bool in_use(Index line) const { return tags_[line] != kFree; }
  [[nodiscard]] std::uint64_t block(Index line) const { return tags_[line]; }
  [[nodiscard]] Payload &payload(Index line) { return payloads_[line]; }
  [[nodiscard]] const Payload &payload(Index line) const { return payloads_[line]; }

private:
  static constexpr std::uint64_t kFree = ~std::uint64_t{0};

  template <typename Allowed> Index oldest(std::size_t first, Allowed allowed) const {
    Index best = kNone;
    for (std::uint32_t way = 0; way < shape_.ways; ++way) {
      const auto line = static_cast<Index>(first + way);
      if (tags_[line] == kFree || (best != kNone && stamps_[line] >= stamps_[best]))
        continue;
      if (allowed(line))
        best = line;
    }
    return best;
  }

  // Tree PLRU: bit n of the word is node n of a heap-shaped tree (root 1); set: go right.
  void point_away(Index line) {
    std::uint64_t &tree = trees_[line / shape_.ways];
    std::uint32_t node = 1;
    for (std::uint32_t half = shape_.ways / 2, way = line % shape_.ways; half > 0; half /= 2) {
      const bool right = (way & half) != 0;
      if (right)
        tree &= ~(std::uint64_t{1} << node);
      else
        tree |= std::uint64_t{1} << node;
      node = node * 2 + (right ? 1 : 0);
    }
  }
  [[nodiscard]] std::uint32_t tree_choice(std::uint32_t set) const {
    std::uint32_t node = 1;
    std::uint32_t way = 0;
    for (std::uint32_t half = shape_.ways / 2; half > 0; half /= 2) {
      const bool right = ((trees_[set] >> node) & 1) != 0;
      way += right ? half : 0;
      node = node * 2 + (right ? 1 : 0);
    }
    return way;
  }

  // splitmix64: the array's own stream, the same in every run.
  std::uint64_t next_random() {
    std::uint64_t z = (random_ += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    return z ^ (z >> 31);
  }

  ArrayShape shape_;
  int set_shift_;      // log2 of the divisor; -1: it is no power of two
  std::uint32_t mask_; // sets - 1 where sets is a power of two
  std::vector<std::uint64_t> tags_;
  std::vector<std::uint64_t> stamps_; // of the last use (LRU) or the fill (FIFO)
  std::vector<Payload> payloads_;
  std::uint32_t usable_;
  std::vector<std::uint64_t> trees_;
  std::uint64_t clock_ = 0;
  std::uint64_t random_ = 0;
  std::size_t used_ = 0;
};

} // namespace tandem::machine
