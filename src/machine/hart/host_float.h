// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The host's floating-point environment: rounding modes and accrued exceptions, by MXCSR on x86-64,
// by <cfenv> elsewhere. Files that compute under it are compiled with -ffp-model=strict.
#pragma once

#include <cstdint>

#ifdef __x86_64__
#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace tandem::machine::host_float {

// The guest's modes that the host has: RNE 0, RTZ 1, RDN 2, RUP 3. (RMM 4 it has not.)
inline constexpr unsigned kHostModes = 4;

// fflags: NX 0, UF 1, OF 2, DZ 3, NV 4.
inline constexpr std::uint8_t kInexact = 1, kUnderflow = 2, kOverflow = 4, kDivideByZero = 8,
                              kInvalid = 16;

#ifdef __x86_64__
using Environment = unsigned;
// All exceptions masked; bits 14:13 are the mode (0 nearest, 1 down, 2 up, 3 to zero).
constexpr unsigned environment_of(unsigned mode) {
  constexpr unsigned kModes[4] = {0, 3, 1, 2};
  return 0x1f80 | kModes[mode & 3] << 13;
}
inline Environment save() { return _mm_getcsr(); }
inline void restore(Environment environment) { _mm_setcsr(environment); }
// Sets a mode of the guest's with no exception accrued.
inline void set(unsigned mode) { _mm_setcsr(environment_of(mode)); }
inline std::uint8_t flags_of(Environment e) {
  return static_cast<std::uint8_t>((e & 1) << 4 | (e & 4) << 1 | (e & 8) >> 1 | (e & 16) >> 3 |
                                   (e & 32) >> 5);
}
// Accrued flags; they stay.
inline std::uint8_t flags() { return flags_of(_mm_getcsr()); }
// Accrued flags; none is left.
inline std::uint8_t take_flags() {
  const unsigned now = _mm_getcsr();
  if ((now & 0x3f) != 0)
    _mm_setcsr(now & ~0x3fU);
  return flags_of(now);
}
#else
struct Environment {
  std::fenv_t env;
};
inline Environment save() {
  Environment e;
  std::fegetenv(&e.env);
  return e;
}
inline void restore(const Environment &e) { std::fesetenv(&e.env); }
inline std::uint8_t flags() {
  const int now = std::fetestexcept(FE_ALL_EXCEPT);
  return static_cast<std::uint8_t>(
      (now & FE_INEXACT ? kInexact : 0) | (now & FE_UNDERFLOW ? kUnderflow : 0) |
      (now & FE_OVERFLOW ? kOverflow : 0) | (now & FE_DIVBYZERO ? kDivideByZero : 0) |
      (now & FE_INVALID ? kInvalid : 0));
}
inline std::uint8_t take_flags() {
  const std::uint8_t now = flags();
  std::feclearexcept(FE_ALL_EXCEPT);
  return now;
}
inline void set(unsigned mode) {
  constexpr int kModes[4] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
  std::fesetround(kModes[mode & 3]);
  std::feclearexcept(FE_ALL_EXCEPT);
}
#endif

// The host's own environment again when it ends.
class Scope {
public:
  Scope() : saved_(save()) {}
  ~Scope() { restore(saved_); }
  Scope(const Scope &) = delete;
  Scope &operator=(const Scope &) = delete;

private:
  Environment saved_;
};

} // namespace tandem::machine::host_float
