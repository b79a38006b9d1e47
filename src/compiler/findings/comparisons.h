// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that decide which of two values comes first, however the source spells it.
#pragma once

#include "llvm/IR/Instruction.h"

#include <utility>
#include <vector>

namespace tandem {

// The pairs of values that an instruction puts in an order: the sides of a comparison by less or
// greater, those of a difference that is compared so, and what a call passes to a function that
// does nothing but answer by such a comparison: std::less, std::min, a comparator of the program,
// strcmp.
// Empty: it decides nothing.
std::vector<std::pair<const llvm::Value *, const llvm::Value *>>
compared_values(const llvm::Instruction &instruction);

} // namespace tandem
