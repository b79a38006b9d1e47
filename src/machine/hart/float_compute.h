// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Floating point as RISC-V has it, on the host's IEEE arithmetic: boxes of singles, canonical NaNs,
// minima, comparisons and conversions with RISC-V's flags. Compiled with -ffp-model=strict.
// Flags that arithmetic does not raise by itself go into `state.fflags` at once.
//
// Source: RISC-V unprivileged manual, chapters F and D.
#pragma once

#include "machine/hart/core.h"

#include <bit>
#include <cmath>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>

#ifdef __x86_64__
#include <emmintrin.h>
#endif

namespace tandem::machine {

inline constexpr std::uint32_t kNanSingle = 0x7fc00000;
inline constexpr std::uint64_t kNanDouble = 0x7ff8000000000000;
inline constexpr std::uint64_t kBox = std::uint64_t{0xffffffff} << 32;

constexpr std::uint64_t box(std::uint32_t single) { return kBox | single; }
constexpr std::uint64_t box(std::uint64_t twice) { return twice; }
// A single that is not boxed counts as the canonical NaN.
constexpr std::uint32_t unbox(std::uint64_t reg) {
  return (reg & kBox) == kBox ? static_cast<std::uint32_t>(reg) : kNanSingle;
}

template <std::unsigned_integral Bits> struct FloatOf;
template <> struct FloatOf<std::uint32_t> {
  using Type = float;
  static constexpr unsigned kFraction = 23;
};
template <> struct FloatOf<std::uint64_t> {
  using Type = double;
  static constexpr unsigned kFraction = 52;
};
template <std::unsigned_integral Bits> constexpr Bits kSignBit = Bits{1} << (sizeof(Bits) * 8 - 1);
template <std::unsigned_integral Bits>
constexpr Bits kInfinity = (kSignBit<Bits> - 1) & ~((Bits{1} << FloatOf<Bits>::kFraction) - 1);

template <std::unsigned_integral Bits> constexpr bool is_nan(Bits a) {
  return (a & ~kSignBit<Bits>) > kInfinity<Bits>;
}
template <std::unsigned_integral Bits> constexpr bool is_signalling(Bits a) {
  return is_nan(a) && (a >> (FloatOf<Bits>::kFraction - 1) & 1) == 0;
}

inline void raise(HartCore *h, unsigned flags) {
  h->state.fflags |= static_cast<std::uint8_t>(flags);
}

inline std::uint64_t canonical(float value) {
  const auto bits = std::bit_cast<std::uint32_t>(value);
  return box(is_nan(bits) ? kNanSingle : bits);
}
inline std::uint64_t canonical(double value) {
  const auto bits = std::bit_cast<std::uint64_t>(value);
  return is_nan(bits) ? kNanDouble : bits;
}

inline float square_root(float a) {
#ifdef __x86_64__
  return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)));
#else
  return std::sqrt(a);
#endif
}
inline double square_root(double a) {
#ifdef __x86_64__
  const __m128d v = _mm_set_sd(a);
  return _mm_cvtsd_f64(_mm_sqrt_sd(v, v));
#else
  return std::sqrt(a);
#endif
}

// Infinity times zero is invalid even if a quiet NaN is added, which hosts decide differently.
template <typename F> inline F fused(F a, F b, F c) {
  const F result = std::fma(a, b, c);
  if (std::isnan(result) && std::isnan(c) &&
      ((std::isinf(a) && b == 0) || (a == 0 && std::isinf(b)))) {
    volatile F zero = 0;
    volatile F invalid = std::numeric_limits<F>::infinity() * zero; // raises the flag
    (void)invalid;
  }
  return result;
}

template <typename F> inline F from_signed(std::int64_t value) { return static_cast<F>(value); }
// Halved with the lost bit kept sticky, then doubled: one rounding, in any mode.
template <typename F> inline F from_unsigned(std::uint64_t value) {
  const auto as_signed = static_cast<std::int64_t>(value);
  if (as_signed >= 0)
    return static_cast<F>(as_signed);
  const F half = static_cast<F>(static_cast<std::int64_t>(value >> 1 | (value & 1)));
  return half + half;
}

// What a conversion gives for a value that is no integer of `To`; `negative`: it is too small.
template <std::integral To> constexpr To saturated(bool negative) {
  return negative ? std::numeric_limits<To>::min() : std::numeric_limits<To>::max();
}

// The bounds between which truncation gives a `To`, both excluded unless they are exact.
template <std::integral To> constexpr bool in_range(double value) {
  if constexpr (std::same_as<To, std::int32_t>)
    return value > -2147483649.0 && value < 2147483648.0;
  else if constexpr (std::same_as<To, std::uint32_t>)
    return value > -1.0 && value < 4294967296.0;
  else if constexpr (std::same_as<To, std::int64_t>)
    return value >= -9223372036854775808.0 && value < 9223372036854775808.0;
  else
    return value > -1.0 && value < 18446744073709551616.0;
}

inline double widened(float value) { return static_cast<double>(value); }

// An integer whose truncation is known to be in range.
template <std::integral To> inline To to_integer(double value) {
  if constexpr (std::same_as<To, std::uint64_t>) {
    constexpr double kHalf = 9223372036854775808.0;
    if (value >= kHalf)
      return static_cast<std::uint64_t>(static_cast<std::int64_t>(value - kHalf)) | std::uint64_t{1}
                                                                                        << 63;
  }
  return static_cast<To>(static_cast<std::int64_t>(value));
}

// Towards zero. The host raises inexact by itself in the conversion.
template <std::integral To> inline To truncate(HartCore *h, double value) {
  if (std::isnan(value)) {
    raise(h, host_float::kInvalid);
    return saturated<To>(false);
  }
  if (!in_range<To>(value)) {
    raise(h, host_float::kInvalid);
    return saturated<To>(value < 0);
  }
  const To result = to_integer<To>(value);
  return result;
}

// fcvt.d.s
inline std::uint64_t widen(HartCore *h, std::uint32_t single) {
  if (is_nan(single)) {
    if (is_signalling(single))
      raise(h, host_float::kInvalid);
    return kNanDouble;
  }
  return std::bit_cast<std::uint64_t>(static_cast<double>(std::bit_cast<float>(single)));
}

// Integers that order as the numbers do; both zeros apart. No NaNs.
template <std::unsigned_integral Bits> constexpr auto order_key(Bits a) {
  using Signed = std::make_signed_t<Bits>;
  return static_cast<Signed>((a & kSignBit<Bits>) != 0 ? ~(a & ~kSignBit<Bits>) : a);
}

// The smaller, or the larger if `larger`. A NaN loses against a number; -0 is below +0.
template <std::unsigned_integral Bits>
inline Bits minimum(HartCore *h, Bits a, Bits b, bool larger) {
  if (is_signalling(a) || is_signalling(b))
    raise(h, host_float::kInvalid);
  if (is_nan(a) && is_nan(b))
    return sizeof(Bits) == 4 ? static_cast<Bits>(kNanSingle) : static_cast<Bits>(kNanDouble);
  if (is_nan(a))
    return b;
  if (is_nan(b))
    return a;
  return (order_key(a) < order_key(b)) != larger ? a : b;
}

template <std::unsigned_integral Bits> constexpr bool both_zero(Bits a, Bits b) {
  return ((a | b) & ~kSignBit<Bits>) == 0;
}
// Quiet: only signalling NaNs are invalid.
template <std::unsigned_integral Bits> inline std::uint64_t equal(HartCore *h, Bits a, Bits b) {
  if (is_nan(a) || is_nan(b)) {
    if (is_signalling(a) || is_signalling(b))
      raise(h, host_float::kInvalid);
    return 0;
  }
  return a == b || both_zero(a, b) ? 1 : 0;
}
// Signalling: any NaN is invalid.
template <std::unsigned_integral Bits>
inline std::uint64_t less(HartCore *h, Bits a, Bits b, bool or_equal) {
  if (is_nan(a) || is_nan(b)) {
    raise(h, host_float::kInvalid);
    return 0;
  }
  if (both_zero(a, b))
    return or_equal ? 1 : 0;
  return order_key(a) < order_key(b) || (or_equal && a == b) ? 1 : 0;
}

// The ten classes of fclass, as a set of one bit.
template <std::unsigned_integral Bits> constexpr std::uint64_t class_of(Bits a) {
  const bool negative = (a & kSignBit<Bits>) != 0;
  const Bits size = a & ~kSignBit<Bits>;
  const unsigned place = is_nan(a)                               ? (is_signalling(a) ? 8 : 9)
                         : size == kInfinity<Bits>               ? (negative ? 0 : 7)
                         : size >> FloatOf<Bits>::kFraction != 0 ? (negative ? 1 : 6)
                         : size != 0                             ? (negative ? 2 : 5)
                                                                 : (negative ? 3 : 4);
  return std::uint64_t{1} << place;
}

} // namespace tandem::machine
