// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/InstrTypes.h"

namespace tandem {

// The function that `call` always runs, through casts and aliases; null where it is called by
// pointer or where the linker may put another in its place.
inline llvm::Function *called_function(const llvm::CallBase &call) {
  llvm::Value *callee = call.getCalledOperand()->stripPointerCasts();
  if (auto *alias = llvm::dyn_cast<llvm::GlobalAlias>(callee); alias && !alias->isInterposable())
    callee = alias->getAliaseeObject();
  return llvm::dyn_cast_or_null<llvm::Function>(callee);
}

} // namespace tandem
