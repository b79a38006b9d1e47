// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a transactional clone is put through before its accesses become calls: afterwards, no pass
// sees that two barriers read the same word, or that a local was only ever a value. Inside a
// transaction memory is the transaction's alone, so all that holds for a thread without others
// holds here.
#pragma once

#include "llvm/Analysis/CGSCCPassManager.h"
#include "llvm/Analysis/LoopAnalysisManager.h"
#include "llvm/IR/PassManager.h"

namespace tandem {

class Simplifier {
public:
  Simplifier();

  // Locals become values; repeated reads of one place and writes that another follows become one.
  // Calls are neither added nor turned into others. Functions compiled without optimisation stay as
  // they are.
  void run(llvm::Function &function);

private:
  // In the order in which they may refer to each other.
  llvm::LoopAnalysisManager loops_;
  llvm::FunctionAnalysisManager functions_;
  llvm::CGSCCAnalysisManager components_;
  llvm::ModuleAnalysisManager modules_;
  llvm::FunctionPassManager passes_;
};

} // namespace tandem
