// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small functions that may become part of the section that calls them.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace tandem {

// Whether some block may run twice in one execution.
bool has_cycle(const llvm::Function &function);

// Whether a caller may get the locals of what it calls: these are few, or it is not called below
// itself, where each level would have them. By calls of the program: what code outside calls back
// does not count.
bool may_get_frame(const llvm::Function &caller, const llvm::Function &callee);

// Whether the call can be replaced by what it calls, which is small and has no loop.
bool can_inline(const llvm::CallBase &call);

} // namespace tandem
