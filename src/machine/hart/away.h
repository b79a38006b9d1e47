// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rounding to nearest with ties away from zero (RMM), which hosts do not have, by exact integers.
// Only for finite operands other than zero whose result is inexact; the rest is as in RNE.
//
// Source: IEEE 754-2008, roundTiesToAway; underflow is found after rounding, as RISC-V wants it.
#pragma once

#include <cstdint>

namespace tandem::machine::away {

// (mantissa + e) * 2^exponent, where 0 < e < 1 if sticky, else e = 0. The mantissa is not 0.
struct Exact {
  bool negative = false;
  int exponent = 0;
  unsigned __int128 mantissa = 0;
  bool sticky = false;
};

// From the bits of a finite number other than 0, or an integer other than 0.
Exact from_bits(std::uint32_t single);
Exact from_bits(std::uint64_t twice);
Exact from_integer(std::uint64_t magnitude, bool negative);

// The mantissas must have at most 64 significant bits, but for the sum, of 106.
Exact product(const Exact &a, const Exact &b);
Exact quotient(const Exact &a, const Exact &b);
Exact sum(Exact a, Exact b); // not 0

// To the nearest; fflags are or-ed into `flags`.
std::uint32_t to_single(const Exact &value, std::uint8_t &flags);
std::uint64_t to_double(const Exact &value, std::uint8_t &flags);

} // namespace tandem::machine::away
