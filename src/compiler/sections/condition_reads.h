// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the conditions of branches read, and which instructions change it.
#pragma once

#include "compiler/sections/changes.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/Instructions.h"

#include <string>

namespace tandem {

// Whether `slot` is only loaded and stored as a whole.
bool is_flag(const llvm::AllocaInst &slot);

// The only store to a private variable that is only loaded and stored as a whole; null where there
// are more, or none.
const llvm::StoreInst *only_store(const llvm::AllocaInst &slot);

// Whether only instructions that name it use the variable that `address` leads into.
bool is_private(const llvm::Value &address);

using Loads = llvm::SmallSetVector<const llvm::LoadInst *, 8>;

// The loads that two values, which are computed alike, come from, but for those of one variable
// that never changes. False: what they come from is not seen.
bool find_reads(const llvm::Value *a, const llvm::Value *b, Loads &of_a, Loads &of_b,
                unsigned depth = 0);

// Whether `by`, of the same function, may write what `read` reads; without `changes`, as far as the
// text of the function shows.
bool writes(const llvm::Instruction &by, const llvm::LoadInst &read, const LockCalls &calls,
            Changes *changes);

// An instruction on a way from `read` to `branch` that may write what is read; null: there is none.
const llvm::Instruction *written_before(const llvm::BranchInst &branch, const llvm::LoadInst &read,
                                        const LockCalls &calls, Changes *changes);

// As a sentence's part: what is read may change, and where; `beside`: in another thread.
std::string doubt_of(const llvm::LoadInst &read, const llvm::Instruction &by, bool beside);

} // namespace tandem
