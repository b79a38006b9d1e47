// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Outlining of atomic blocks: a block becomes a function of its own, which can then be enforced as
// a marked function is.
#pragma once

#include "base/result.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

namespace tandem {

// Moves what runs in `block` into a function, which the function that contains it calls instead,
// and removes the block's markers. However the block is left, the call returns and control goes on
// where it would have; an exception leaves the new function as an exception. Blocks inside it are
// outlined before it. Error: why this block cannot be; the module is then half-changed and must not
// be used.
Result<llvm::Function *> outline_block(const Section &block);

// Turns the local variables of `function` whose address nobody takes into values.
void promote_variables(llvm::Function &function);

// The local variables of `function` that are in memory.
using Variables = llvm::SmallPtrSet<const llvm::AllocaInst *, 16>;
Variables variables_of(const llvm::Function &function);

// Of a function that CodeExtractor made, and that is called once: marks the arguments by which it
// gives values back (Barriers::mark_result). `variables`: those of its caller before it was made.
void mark_results(llvm::Function &outlined, const Variables &variables);

} // namespace tandem
