// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Alternatives: functions that a program calls by pointers which it sets together, in one of the
// branches of one condition, such as those with threads and those without. What belongs to one of
// them does not run while the pointers lead to another one.
//
// For advice, not for soundness: a program that sets the pointers again is taken to have joined its
// threads.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

#include <cstdint>
#include <set>
#include <utility>

namespace tandem {

class Alternatives {
public:
  // Takes time linear in the uses of functions. `module` outlives this object.
  explicit Alternatives(const llvm::Module &module);

  // Whether two functions belong to alternatives of which a program has one at a time: each branch
  // sets all the variables that the other one sets to functions.
  [[nodiscard]] bool exclude(const llvm::Function &a, const llvm::Function &b) const;

private:
  // A part of a global variable, and the offset of it in bytes.
  using Slot = std::pair<const llvm::Value *, std::int64_t>;
  struct Branch {
    std::set<Slot> functions; // that get the address of a function
    std::set<Slot> all;       // that are stored to
  };
  // Where a function's address goes into a variable, if that is one block and it is called in no
  // other way, or only by functions of one such block.
  llvm::DenseMap<const llvm::Function *, const llvm::BasicBlock *> set_in_;
  llvm::DenseMap<const llvm::BasicBlock *, Branch> branches_;
};

} // namespace tandem
