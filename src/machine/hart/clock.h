// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The machine's time as its harts and devices see it. One object a machine. Host time never enters.
#pragma once

#include "machine/event/wheel.h"

#include <cstdint>

namespace tandem::machine {

struct Clock {
  // Cycles since the start. Whoever runs harts sets it before Hart::run(); while a hart runs it is
  // exact whenever foreign code is called (a device, an environment), and it stands behind the last
  // instruction when run() returns. Harts of one round (cores/functional.h) have the same cycles
  // one after the other, so that it goes back from hart to hart by less than a round.
  Cycle now = 0;
  // Of the CSR `time`, stimecmp and the device tree's timebase: 100 is 10 MHz at 1 GHz.
  std::uint64_t cycles_per_tick = 100;

  [[nodiscard]] std::uint64_t ticks() const { return now / cycles_per_tick; }
  // The first cycle at which `time` is at least `ticks`; kNever if that is beyond counting.
  [[nodiscard]] Cycle cycle_of(std::uint64_t ticks) const {
    return ticks >= kNever / cycles_per_tick ? kNever : ticks * cycles_per_tick;
  }
};

} // namespace tandem::machine
