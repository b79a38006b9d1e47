// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the text of assembly says of the program: the symbols that it names.
#pragma once

#include "llvm/ADT/SetVector.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

namespace tandem {

// The variables and functions that the module defines and that assembly of its own names: between
// functions or within them.
llvm::SetVector<const llvm::GlobalValue *> named_in_assembly(const llvm::Module &module);

// Whether an assembly statement may run code of the program, or touch memory that is not among its
// operands: it calls or jumps, or names something that the module defines.
bool leaves_by_assembly(const llvm::CallBase &call);

} // namespace tandem
