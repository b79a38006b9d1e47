// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cold paths: code that the source, its profile or what it leads to calls unlikely. A branch is
// unlikely to go where every path ends in a call that does not return, an exception, a function
// marked cold, or a report of an error (perror, output to stderr), while another way leads
// elsewhere; where __builtin_expect or [[unlikely]] say so; or where branch weights give it less
// than one run in 20. LLVM's own heuristics for error exits are the model
// (BranchProbabilityInfo, SimplifyLibCalls' cold error reports); unlike those, coldness is asked
// for relative to the begin of a section, and a program without optimisation answers too.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <map>
#include <set>
#include <utility>

namespace tandem {

// Answers are kept, so that asking again is cheap. The program must not change meanwhile. One
// thread at a time.
class ColdPaths {
public:
  // Whether every path from `begin` to `instruction`, both of one function, takes an unlikely
  // branch. `begin` null: from the function's begin.
  [[nodiscard]] bool is_cold(const llvm::Instruction &instruction,
                             const llvm::Instruction *begin = nullptr);

  // Whether a chain of calls, each in a function that the one before calls, takes an unlikely
  // branch somewhere; the first call is seen from `begin`, as above. An empty chain is not cold.
  [[nodiscard]] bool is_cold(llvm::ArrayRef<const llvm::Instruction *> chain,
                             const llvm::Instruction *begin = nullptr);

private:
  using Blocks = llvm::DenseSet<const llvm::BasicBlock *>;
  bool is_cold_function(const llvm::Function &function);
  bool is_seed(const llvm::BasicBlock &block);
  const Blocks &doomed(const llvm::Function &function);
  bool is_unlikely(const llvm::BasicBlock &from, unsigned successor, const Blocks &doomed) const;
  const Blocks &hot_from(const llvm::BasicBlock &origin);

  // Blocks from which every path leads to a report of an error or an exit.
  std::map<const llvm::Function *, Blocks> doomed_;
  std::set<const llvm::Function *> active_; // being computed: recursion
  std::map<const llvm::BasicBlock *, Blocks> hot_;
};

} // namespace tandem
