// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Groups of mutually recursive functions of a program.
#pragma once

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace tandem {

using CallTargets =
    llvm::function_ref<llvm::ArrayRef<const llvm::Function *>(const llvm::CallBase &)>;

// The strongly connected components of the call graph of the functions that `module` defines,
// callees first.
std::vector<std::vector<const llvm::Function *>> components(const llvm::Module &module,
                                                            CallTargets targets);

} // namespace tandem
