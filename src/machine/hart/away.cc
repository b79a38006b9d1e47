// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/hart/away.h"

#include "machine/hart/host_float.h"

#include <bit>
#include <utility>

namespace tandem::machine::away {

namespace {

using Wide = unsigned __int128;

int leading_zeros(Wide value) {
  const auto high = static_cast<std::uint64_t>(value >> 64);
  return high != 0 ? std::countl_zero(high)
                   : 64 + std::countl_zero(static_cast<std::uint64_t>(value));
}

// Moves the mantissa so that its highest bit is `top`; to the left only.
void raise_to(Exact &value, int top) {
  const int shift = top - (127 - leading_zeros(value.mantissa));
  if (shift > 0) {
    value.mantissa <<= shift;
    value.exponent -= shift;
  }
}

template <typename Bits> Exact unpack(Bits bits, int fraction, int bias) {
  const Bits one = 1;
  const int width = static_cast<int>(sizeof(Bits)) * 8;
  const Bits mantissa = bits & ((one << fraction) - 1);
  const int exponent = static_cast<int>(bits >> fraction & ((one << (width - 1 - fraction)) - 1));
  return {.negative = (bits >> (width - 1)) != 0,
          .exponent = (exponent == 0 ? 1 : exponent) - bias - fraction,
          .mantissa = exponent == 0 ? mantissa : mantissa | one << fraction};
}

// Precision in bits, and the exponent of the smallest normal number.
template <typename Bits> Bits round(Exact value, int precision, int least, std::uint8_t &flags) {
  raise_to(value, 127);
  const int exponent = value.exponent + 127; // value is in [2^exponent, 2^(exponent + 1))
  int shift = 128 - precision;
  const bool low = exponent < least;
  const Wide normal = value.mantissa >> shift;
  const bool normal_up = (value.mantissa >> (shift - 1) & 1) != 0;
  // Tiny, unless rounding with the full precision reaches the smallest normal number.
  const bool tiny =
      low && !(exponent == least - 1 && normal_up && normal + 1 == Wide{1} << precision);
  if (low)
    shift += least - exponent;

  Wide kept = 0;
  bool up = false;
  bool inexact = true;
  if (shift <= 128) {
    kept = shift == 128 ? 0 : value.mantissa >> shift;
    up = (value.mantissa >> (shift - 1) & 1) != 0;
    const Wide lost = shift == 128 ? value.mantissa : value.mantissa & ((Wide{1} << shift) - 1);
    inexact = lost != 0 || value.sticky;
  }
  kept += up ? 1 : 0;

  const int fraction = precision - 1;
  const int width = static_cast<int>(sizeof(Bits)) * 8;
  // A carry out of the fraction goes into the exponent, as it should.
  Bits bits = static_cast<Bits>(kept);
  if (!low)
    bits = static_cast<Bits>((static_cast<Wide>(exponent - least) << fraction) + kept);
  const Bits infinity = static_cast<Bits>(((Bits{1} << (width - precision)) - 1) << fraction);
  if (!low && (exponent > -least + 1 || bits >= infinity)) {
    bits = infinity;
    flags |= host_float::kOverflow | host_float::kInexact;
  }
  if (inexact)
    flags |= host_float::kInexact | (tiny ? host_float::kUnderflow : 0);
  return bits | (value.negative ? Bits{1} << (width - 1) : 0);
}

} // namespace

Exact from_bits(std::uint32_t single) { return unpack(single, 23, 127); }
Exact from_bits(std::uint64_t twice) { return unpack(twice, 52, 1023); }
Exact from_integer(std::uint64_t magnitude, bool negative) {
  return {.negative = negative, .mantissa = magnitude};
}

Exact product(const Exact &a, const Exact &b) {
  return {.negative = a.negative != b.negative,
          .exponent = a.exponent + b.exponent,
          .mantissa = a.mantissa * b.mantissa};
}

Exact quotient(const Exact &a, const Exact &b) {
  Exact dividend = a;
  raise_to(dividend, 127);
  return {.negative = a.negative != b.negative,
          .exponent = dividend.exponent - b.exponent,
          .mantissa = dividend.mantissa / b.mantissa,
          .sticky = dividend.mantissa % b.mantissa != 0};
}

Exact sum(Exact a, Exact b) {
  raise_to(a, 126); // room for a carry
  raise_to(b, 126);
  if (a.exponent < b.exponent || (a.exponent == b.exponent && a.mantissa < b.mantissa))
    std::swap(a, b);
  const int distance = a.exponent - b.exponent;
  bool lost = false;
  if (distance > 126) {
    b.mantissa = 0;
    lost = true;
  } else if (distance > 0) {
    lost = (b.mantissa & ((Wide{1} << distance) - 1)) != 0;
    b.mantissa >>= distance;
  }
  if (a.negative == b.negative)
    a.mantissa += b.mantissa;
  else
    a.mantissa -= b.mantissa + (lost ? 1 : 0); // a - (b + e) = (a - b - 1) + (1 - e)
  a.sticky = lost;
  return a;
}

std::uint32_t to_single(const Exact &value, std::uint8_t &flags) {
  return round<std::uint32_t>(value, 24, -126, flags);
}
std::uint64_t to_double(const Exact &value, std::uint8_t &flags) {
  return round<std::uint64_t>(value, 53, -1022, flags);
}

} // namespace tandem::machine::away
