// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hashes of block numbers for the presence filters, and the invertible permutations that a d-left
// filter needs to move its members between sub-tables.
//
// Pure functions; no state, any thread.
#pragma once

#include "base/check.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::machine::filter {

// The finaliser of splitmix64: every output bit depends on every input bit; a bijection on 64 bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 30;
  x *= 0xbf58476d1ce4e5b9U;
  x ^= x >> 27;
  x *= 0x94d049bb133111ebU;
  return x ^ (x >> 31);
}

// The inverse of an odd number modulo 2^64 (Newton: each step doubles the correct low bits).
constexpr std::uint64_t odd_inverse(std::uint64_t a) {
  std::uint64_t x = a;
  for (int step = 0; step < 5; ++step)
    x *= 2 - a * x;
  return x;
}

// One bijection on the numbers of `bits` bits, 1 <= bits <= 32. Shift, multiply by an odd number,
// shift. The shift is by at least half the width, so it is its own inverse; it also carries the
// high bits into the low ones, which the product alone never does. Hardware would use an XOR and
// rotate network.
class Permutation {
public:
  Permutation() = default;
  constexpr Permutation(unsigned bits, std::uint64_t seed)
      : mask_((std::uint64_t{1} << bits) - 1), shift_((bits + 1) / 2), multiplier_(mix(seed) | 1),
        inverse_(odd_inverse(multiplier_)) {}

  [[nodiscard]] constexpr std::uint32_t apply(std::uint32_t x) const {
    return fold(static_cast<std::uint32_t>((fold(x) * multiplier_) & mask_));
  }
  [[nodiscard]] constexpr std::uint32_t invert(std::uint32_t y) const {
    return fold(static_cast<std::uint32_t>((fold(y) * inverse_) & mask_));
  }

private:
  [[nodiscard]] constexpr std::uint32_t fold(std::uint32_t x) const { return x ^ (x >> shift_); }

  std::uint64_t mask_ = 1;
  unsigned shift_ = 1;
  std::uint64_t multiplier_ = 1;
  std::uint64_t inverse_ = 1;
};

} // namespace tandem::machine::filter
