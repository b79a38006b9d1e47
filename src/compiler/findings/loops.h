// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Loops of nearly unoptimised code, and how often two of them run.
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/Dominators.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Instructions.h"

#include <cstdint>
#include <optional>
#include <set>
#include <utility>
#include <vector>

namespace tandem {

// The loops of a function and what its blocks stand behind.
class Loops {
public:
  explicit Loops(const llvm::Function &function)
      : tree_(const_cast<llvm::Function &>(function)), loops_(tree_) {} // NOLINT: they only read

  [[nodiscard]] const llvm::Loop *around(const llvm::Instruction &at) const {
    return loops_.getLoopFor(at.getParent());
  }
  // Whether each round of the loop comes by the instruction.
  [[nodiscard]] bool always(const llvm::Loop &loop, const llvm::Instruction &at) const;
  // The other sides of the conditions that `block` stands behind: for each block that all ways come
  // by, where ways from there to `block` are left, in this round of a loop.
  [[nodiscard]] std::set<std::pair<const llvm::BasicBlock *, const llvm::BasicBlock *>>
  other_sides(const llvm::BasicBlock &block) const;
  // The conditions that a block stands behind, the last ones first: the branch, and on which side.
  [[nodiscard]] std::vector<std::pair<const llvm::BranchInst *, bool>>
  conditions_of(const llvm::BasicBlock &block) const;

  // The variable that a loop counts and ends by; null where there is none.
  [[nodiscard]] const llvm::Value *counter_of(const llvm::Loop &loop) const;
  // The least and the greatest number that a loop counts, where they are constants. `known`: what
  // else is known of a bound.
  [[nodiscard]] std::optional<std::pair<std::int64_t, std::int64_t>>
  numbers_of(const llvm::Loop &loop,
             llvm::function_ref<const llvm::Value *(const llvm::Value *)> known) const;
  // Whether two instructions are run for the same numbers or pointers, each by the innermost loop
  // around it, in one order or the other: for the same first and last one, by the same step; or as
  // far as the text tells, where one of the loops has no counter that begins before it.
  [[nodiscard]] bool run_alike(const llvm::Instruction &a, const llvm::Instruction &b) const;

private:
  [[nodiscard]] bool goes_on(const llvm::BasicBlock &from, const llvm::BasicBlock &to,
                             const llvm::BasicBlock &block) const;

  llvm::DominatorTree tree_;
  llvm::LoopInfo loops_;
};

// What a number is compared with at the loop's end; null where none is. If `likely`, only a number
// that the loop counts.
const llvm::Value *bound_of(const llvm::Loop &loop, bool likely);

} // namespace tandem
