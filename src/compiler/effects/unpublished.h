// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Objects that only one thread can reach so far: not yet published.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"

namespace tandem {

// Whether the place that `call` calls does nothing that the program can see: debug information,
// lifetimes and the like, and no pointer.
bool is_marker(const llvm::Instruction &instruction);

// Whether control may come from one instruction to another of the same function. Exact for the
// control flow graph, however large (LLVM's isPotentiallyReachable gives up after 32 blocks); only
// ways on which `but_by` is not executed in between count.
bool may_follow(const llvm::Instruction &to, const llvm::Instruction &from,
                const llvm::Instruction *but_by = nullptr);

// Whether a local variable is only loaded and stored to: its address does not escape.
bool is_plain_variable(const llvm::Value &address);

// Whether `pointer`, used by `instruction`, leads into an object that its function, or each
// function that calls it, has allocated and, on every way to the instruction, has not yet let
// anyone else know of. False where one of these functions is `known_to`.
bool is_unpublished(const llvm::Value &pointer, const llvm::Instruction &instruction,
                    const PointsToAnalysis &points_to, const llvm::Function *known_to = nullptr);

// Whether no use of an address in its function that may come before `at`, or, if that is null, none
// at all, tells others where it leads. Functions of the program that are given it may keep it in
// variables of their own, and write it into what it leads to.
bool is_untold(const llvm::Value &address, const llvm::Instruction *at,
               const PointsToAnalysis &points_to);

} // namespace tandem
