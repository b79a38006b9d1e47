// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What may change between two questions for one condition. Discovery asks; the analysis of memory,
// which depends on discovery's folder, answers (effects/condition_changes.h).
#pragma once

#include "llvm/IR/Instructions.h"

namespace tandem {

class Changes {
public:
  virtual ~Changes() = default;
  // Whether running `by`, with all that it calls, may write what `read` reads. Both are of one
  // function.
  virtual bool may_write(const llvm::Instruction &by, const llvm::LoadInst &read) = 0;
  // Where another thread may write what `read` reads while the function of `read` runs; null: in no
  // place.
  virtual const llvm::Instruction *written_beside(const llvm::LoadInst &read) = 0;
};

} // namespace tandem
