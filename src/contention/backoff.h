// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How long a loser waits before it tries again. Pure functions of the number of earlier waits and
// of random numbers that the caller injects; the result is in the caller's abstract time.
//
// Source: MetaTM, section 2.4. Its sentence on exponential backoff can be read as n to the power
// of 2; it is named exponential and cites exponential backoff, so it is 2 to the power of n here,
// and the other reading is `square`. Table 2: Polka's seed is a difference (polka_seed).
#pragma once

#include <concepts>
#include <cstdint>

namespace tandem::contention {

enum class Backoff : std::uint8_t { none, linear, exponential, random, square };

inline constexpr std::uint64_t kBackoffSeeds = 10;    // a seed is 1 to this
inline constexpr std::uint64_t kRandomLongest = 1000; // of Backoff::random
inline constexpr std::uint32_t kExponentCeiling = 12; // 2^12 seeds: far above any transaction here

// A source of uniform 64-bit numbers.
template <class R>
concept Random = requires(R &source) {
  { source() } -> std::convertible_to<std::uint64_t>;
};

// The usual seed: uniform from 1 to kBackoffSeeds.
template <Random R> std::uint64_t seed_of(R &random) { return 1 + random() % kBackoffSeeds; }

// The seed of a loser under Polka: by how much the winner is ahead of it, at least 1.
constexpr std::uint64_t polka_seed(std::uint64_t loser, std::uint64_t winner) {
  const std::uint64_t apart = winner > loser ? winner - loser : loser - winner;
  return apart > 0 ? apart : 1;
}

// Time to wait before the next attempt; `waits` is the number of earlier waits of this transaction,
// `seed` is not 0. `random` and `none` have no seed. `ceiling`: of the exponent.
template <Random R>
std::uint64_t delay(Backoff backoff, std::uint32_t waits, std::uint64_t seed, R &random,
                    std::uint32_t ceiling = kExponentCeiling) {
  const std::uint64_t n = waits;
  switch (backoff) {
  case Backoff::none:
    return 0;
  case Backoff::linear:
    return seed * (n + 1);
  case Backoff::exponential:
    return seed << (n < ceiling ? n : ceiling);
  case Backoff::random:
    return random() % (kRandomLongest + 1);
  case Backoff::square:
    return seed * (n + 1) * (n + 1);
  }
  return 0;
}

// The same with the usual seed.
template <Random R> std::uint64_t delay(Backoff backoff, std::uint32_t waits, R &random) {
  const bool has_seed = backoff != Backoff::none && backoff != Backoff::random;
  return delay(backoff, waits, has_seed ? seed_of(random) : 1, random);
}

// xorshift64*: a period of 2^64 - 1, three shifts and a product. Not for secrets.
class Xorshift {
public:
  explicit constexpr Xorshift(std::uint64_t seed) : state_(seed != 0 ? seed : 1) {}
  constexpr std::uint64_t operator()() {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    return (state_ * 0x2545f4914f6cdd1dU) >> 11; // the low bits are the weak ones
  }

private:
  std::uint64_t state_;
};

} // namespace tandem::contention
