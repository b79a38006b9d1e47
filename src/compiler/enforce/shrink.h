// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shrinking a section to the part of its function that needs to be atomic.
#pragma once

#include "compiler/effects/actions.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/Function.h"

#include <vector>

namespace tandem {

// The instructions of `section` that others may notice: accesses to memory that is not its own,
// calls that do more than compute from their arguments, irrevocable actions.
std::vector<llvm::Instruction *> shared_instructions(llvm::Function &section,
                                                     const Actions &actions);

// What a section computes from its arguments alone, before it first does something shared and after
// it last does, needs no transaction: no one can see when it ran. Outlines the rest into a function
// of its own and returns that; `section` calls it. Returns `section` itself where nothing is gained
// or the outlining is not possible. `shared` is what shared_instructions() found; the actions know
// nothing of the module afterwards.
//
// The rest is what the nearest common dominator of `shared` dominates, from the first of them on;
// never a part of a loop. Paths that bypass it run no transaction.
llvm::Function &shrink(llvm::Function &section, llvm::ArrayRef<llvm::Instruction *> shared);

} // namespace tandem
