// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps between the states of a search, and from where a goal can be reached along them.
//
// States are numbered 0, 1, ... and their steps added in that order. A step is kept as the
// difference of two numbers in 7-bit groups, about 3 bytes.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::machine::checker {

class Reach {
public:
  // Begins the next state.
  void state(bool goal);
  // A step from the state begun last.
  void step(std::uint32_t to);
  // The lowest state from which no goal can be reached, or kAll. Every step's target was begun.
  std::uint32_t first_lost() const;
  std::uint64_t footprint() const { return steps_.capacity() + places_.capacity() * 8; }

  static constexpr std::uint32_t kAll = 0xffffffffU;

private:
  static constexpr std::uint32_t kGroup = 256; // states; the place of each group's first is kept

  // Marks the states of one group from which a marked one is a step away; whether any is new.
  bool sweep(std::uint32_t group, std::vector<bool> &marked) const;

  std::vector<std::uint8_t> steps_;
  std::vector<std::uint64_t> places_;
  std::vector<bool> goals_;
};

} // namespace tandem::machine::checker
