// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Modes: functions that a program calls by pointers which it sets together, in one of the branches
// of one condition, such as those with threads and those without. What belongs to one mode does not
// run while the program is in another one.
//
// For advice, not for soundness: a program that changes its mode is taken to have joined its
// threads.
#pragma once

#include "llvm/ADT/DenseMap.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/Module.h"

namespace tandem {

class Modes {
public:
  // Takes time linear in the uses of functions. `module` outlives this object.
  explicit Modes(const llvm::Module &module);

  // Whether two functions belong to modes of which a program has one at a time.
  [[nodiscard]] bool exclude(const llvm::Function &a, const llvm::Function &b) const;

private:
  // Where a function's address goes into a variable, if that is one block and it is called in no
  // other way, or only by functions of one such block.
  llvm::DenseMap<const llvm::Function *, const llvm::BasicBlock *> set_in_;
};

} // namespace tandem
