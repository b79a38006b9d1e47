// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which registers an instruction reads and writes, for models that follow values from one
// instruction to the next. A pure function over the table's formats; thread-safe.
#pragma once

#include "machine/isa/decode.h"

#include <array>
#include <cstdint>

namespace tandem::machine {

// Registers as one row of 64: x is 0 to 31, f is 32 to 63. x0 is none.
inline constexpr std::uint8_t kNoRegister = 64;
inline constexpr unsigned kFirstFloat = 32;

struct Operands {
  std::array<std::uint8_t, 3> sources{kNoRegister, kNoRegister, kNoRegister};
  std::uint8_t result = kNoRegister;
};

// Control registers, the rounding mode and the flags among them, are not followed.
Operands operands_of(const Instruction &instruction);

} // namespace tandem::machine
