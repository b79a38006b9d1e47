// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The annotations of a module's functions: llvm.global.annotations, which clang makes of
// __attribute__((annotate)).
#pragma once

#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/StringRef.h"

namespace llvm {
class Function;
class Module;
} // namespace llvm

namespace tandem {

// In the module's order; functions without a body as well.
void for_each_annotation(llvm::Module &module,
                         llvm::function_ref<void(llvm::Function &, llvm::StringRef)> take);

} // namespace tandem
