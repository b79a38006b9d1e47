// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which bytes a hart with timing last wanted: for those who observe.
#pragma once

#include <cstdint>

namespace tandem::machine {

class Hart;

struct Touched {
  std::uint64_t address = 0; // virtual, of the first byte in the line
  std::uint64_t bytes = 0;   // of the line: bit i is byte i
};

// Of the last load, store or atomic access that a TLB or an L1 had not.
Touched last_touched(Hart &hart);

} // namespace tandem::machine
