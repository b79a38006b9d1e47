// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The private caches of one core: L1I, L1D and a second level that is exclusive (a victim cache) or
// inclusive. The protocol knows one line for each block, wherever it is; this is where it is.
//
// Exclusive: a block is in one array. Inclusive: a block in an L1 is in the L2 as well, and the
// L1's payload is the line; the L2's is written when the L1 gives the block up. A line that a
// transaction has reserved is in its L1 with the payload Line{}.
#pragma once

#include "machine/cache/array.h"
#include "machine/configuration/configuration.h"

namespace tandem::machine {

template <class Line> class PrivateCaches {
public:
  using Array = SetAssociativeArray<Line>;
  using Index = typename Array::Index;
  enum class Level : std::uint8_t { none, l1i, l1d, l2 };
  struct Place {
    Level level = Level::none;
    Index index = Array::kNone;
    explicit operator bool() const { return level != Level::none; }
  };

  explicit PrivateCaches(const Configuration &configuration)
      : l1i_(shape(configuration.l1i)), l1d_(shape(configuration.l1d)),
        l2_(shape(configuration.l2)), inclusive_(configuration.l2_inclusive) {}

  [[nodiscard]] Array &l1(bool fetch) { return fetch ? l1i_ : l1d_; }
  [[nodiscard]] Array &l2() { return l2_; }
  [[nodiscard]] bool inclusive() const { return inclusive_; }

  [[nodiscard]] Place find(std::uint64_t block) const {
    if (const Index line = l1d_.find(block); line != Array::kNone)
      return {Level::l1d, line};
    if (const Index line = l1i_.find(block); line != Array::kNone)
      return {Level::l1i, line};
    if (const Index line = l2_.find(block); line != Array::kNone)
      return {Level::l2, line};
    return {};
  }
  [[nodiscard]] Line &line(const Place &place) { return array(place).payload(place.index); }

  // The block is not here any more.
  void remove(const Place &place) {
    const std::uint64_t block = array(place).block(place.index);
    array(place).free(place.index);
    if (inclusive_ && place.level != Level::l2)
      if (const Index below = l2_.find(block); below != Array::kNone)
        l2_.free(below);
  }

  // A way for `block` in its L1, and in an inclusive L2; `line` moves in. The block must be in the
  // L2 or nowhere. `evict(victim)` is called for blocks of the L2 that must leave for it, and says
  // whether the victim has left; `allowed(victim, line)` says whether a block may be asked to;
  // `moved(victim)` is called for the block that moves from the L1 to the L2, if one does. The
  // way in the L1 is found first, so that what is evicted is really in the way. Result: where the
  // block is now; nothing if there is no room yet, and then `waits_for` is the block that was asked
  // to leave, if there is one.
  template <class Allowed, class Evict, class Moved>
  Place admit(std::uint64_t block, bool fetch, Allowed allowed, Evict evict, Moved moved,
              std::uint64_t &waits_for) {
    Array &first = l1(fetch);
    const Index below = l2_.find(block);
    Line line{};
    if (below != Array::kNone) {
      line = l2_.payload(below);
      if (!inclusive_)
        l2_.free(below); // for the line that it changes places with
    }
    Index way = first.free_line(block);
    if (way == Array::kNone)
      way = clear_way(first, block, allowed, evict, moved, waits_for);
    Index second = below;
    if (way != Array::kNone && inclusive_ && below == Array::kNone) {
      second = room_in_l2(block, block, allowed, evict, waits_for);
      if (second != Array::kNone)
        l2_.fill(second, block);
    }
    if (way == Array::kNone || (inclusive_ && second == Array::kNone)) {
      if (!inclusive_ && below != Array::kNone) {
        l2_.fill(below, block);
        l2_.payload(below) = line;
      }
      return {};
    }
    if (inclusive_)
      l2_.touch(second);
    // Making room below can have taken lines out of this L1, but puts none in.
    first.fill(way, block);
    first.payload(way) = line;
    return {fetch ? Level::l1i : Level::l1d, way};
  }

private:
  static ArrayShape shape(const CacheConfiguration &cache) {
    return {cache.sets(), cache.ways, cache.replacement, 1};
  }
  [[nodiscard]] Array &array(const Place &place) {
    return place.level == Level::l2 ? l2_ : place.level == Level::l1i ? l1i_ : l1d_;
  }
  static bool reserved(const Line &line) { return static_cast<unsigned>(line.state) == 0; }

  // Moves a line of the L1 set of `block` down. Result: the way that is free now.
  template <class Allowed, class Evict, class Moved>
  Index clear_way(Array &first, std::uint64_t block, Allowed allowed, Evict evict, Moved moved,
                  std::uint64_t &waits_for) {
    const Index victim =
        first.victim(block, [&](Index line) { return !reserved(first.payload(line)); });
    if (victim == Array::kNone)
      return Array::kNone; // all ways are reserved by transactions
    const std::uint64_t leaving = first.block(victim);
    Index below = inclusive_ ? l2_.find(leaving) : Array::kNone;
    if (below == Array::kNone) {
      below = room_in_l2(leaving, block, allowed, evict, waits_for);
      if (below == Array::kNone)
        return Array::kNone;
      l2_.fill(below, leaving);
    }
    l2_.payload(below) = first.payload(victim);
    first.free(victim);
    moved(leaving);
    return victim;
  }

  // A free line of the L2 set of `block`; `keep` is not asked to leave.
  template <class Allowed, class Evict>
  Index room_in_l2(std::uint64_t block, std::uint64_t keep, Allowed allowed, Evict evict,
                   std::uint64_t &waits_for) {
    if (const Index free = l2_.free_line(block); free != Array::kNone)
      return free;
    const Index victim = l2_.victim(block, [&](Index line) {
      const std::uint64_t other = l2_.block(line);
      if (other == keep)
        return false;
      const Place above = inclusive_ ? find(other) : Place{Level::l2, line};
      return !reserved(this->line(above)) && allowed(other, this->line(above));
    });
    if (victim == Array::kNone)
      return Array::kNone;
    const std::uint64_t leaving = l2_.block(victim);
    if (!evict(leaving))
      waits_for = leaving;
    return l2_.free_line(block);
  }

  Array l1i_;
  Array l1d_;
  Array l2_;
  bool inclusive_;
};

} // namespace tandem::machine
