// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a machine's whole state comes down to: two machines with equal hashes are, but for chance,
// in the same state.
#pragma once

#include "machine/platform/machine.h"

#include <cstdint>
#include <string>

namespace tandem::machine {

struct StateHash {
  std::uint64_t memory;    // the same for every size of the host's pages; zeros do not count
  std::uint64_t registers; // of all harts, whose turn it is, and the time
  bool operator==(const StateHash &) const = default;
};

// Costs about 0.1 ms for a megabyte of memory that the guest has touched.
StateHash hash_of(Machine &machine);

// "INSTRUCTIONS CYCLES MEMORY REGISTERS", the hashes as 16 hex digits.
std::string hash_line(Machine &machine);

} // namespace tandem::machine
