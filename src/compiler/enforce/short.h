// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short sections: what a section usually does is a few accesses, without loops and calls. A
// transaction of these spends most of its time on its begin and its logs. Instead the section runs
// its own code in place while it holds NOrec's clock, as a commit does
// (runtime/transaction/short.h). What is rare and takes more (a call, a loop) is not in that code:
// where it is reached, what was stored is stored back, and the section begins again as a
// transaction.
#pragma once

#include "compiler/instrument/simplify.h"

#include "llvm/IR/Function.h"

namespace tandem {

// The code of the section with the plain code `body` that can run in place, as a new function that
// nothing calls; null where the section is not short.
llvm::Function *short_version(llvm::Function &body, Simplifier &simplifier);

// Gives the emptied `section` its new body: `version`, which is erased, in place where the runtime
// allows it, else a call of `transaction`, which enforces the section.
void build_short(llvm::Function &section, llvm::Function &version, llvm::Function &transaction);

} // namespace tandem
