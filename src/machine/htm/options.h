// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What hardware transactions cost and how they meet: parameters of a machine.
//
// Source: MetaTM, sections 2 and 6. Where the paper names no figure, MetaTM's own tables decide,
// and docs/machine/metatm.md says so.
#pragma once

#include "contention/backoff.h"
#include "contention/policy.h"

#include <cstdint>

namespace tandem::machine {

enum class Granularity : std::uint8_t { byte, line }; // of conflicts; a line has 64 bytes

struct HtmOptions {
  contention::Policy policy = contention::Policy::size_matters; // but `stall`, which is a flag here
  contention::Backoff backoff = contention::Backoff::linear;
  Granularity granularity = Granularity::byte;
  bool stall = false;                // on a conflict wait; the policy breaks cycles
  std::uint32_t retry_cycles = 20;   // until a stalled access is tried again
  std::uint32_t stall_limit = 10000; // cycles; a stall that is longer ends as a loss
  std::uint32_t commit_cycles = 0;
  std::uint32_t abort_cycles = 0;
  std::uint32_t overflow_cycles = 500; // the first line of an attempt that leaves the caches
  std::uint64_t seed = 1;              // of the backoffs
};

// Exponents of exponential backoff stop here.
inline constexpr std::uint32_t kHtmExponentCeiling = 16;
// Transactions that a hart has begun and that are alive. One more ends the oldest suspended one.
inline constexpr unsigned kHtmLiveOfHart = 64;

} // namespace tandem::machine
