// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Small functions that may become part of the section that calls them.
#pragma once

#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace tandem {

// Whether some block may run twice in one execution.
bool has_cycle(const llvm::Function &function);

// Whether the function may be called below itself. By calls of the program: what code outside calls
// back does not count.
bool may_recurse(const llvm::Function &function);

// Whether the call can be replaced by what it calls, which is small and has no loop.
bool can_inline(const llvm::CallBase &call);

} // namespace tandem
