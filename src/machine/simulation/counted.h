// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a run had counted at one moment of its measurement, and between two.
#pragma once

#include "machine/network/mesh.h"
#include "machine/timed/statistics.h"

namespace tandem::machine::simulation {

struct Counted {
  Statistics statistics;
  MeshStatistics network;
  Cycle cycles = 0;
  std::uint64_t instructions = 0;
  std::uint64_t accesses = 0;
};

// What was counted after `before` and up to `now`, of one run. All of it are counts, which never
// fall.
Counted since(const Counted &before, const Counted &now);

} // namespace tandem::machine::simulation
