// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "llvm/ADT/STLExtras.h"
#include "llvm/IR/Constants.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/GlobalAlias.h"
#include "llvm/IR/GlobalVariable.h"
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

// Whether a constant is only listed for the compiler: in llvm.used, llvm.global.annotations and the
// like.
inline bool is_metadata(const llvm::User &constant) {
  if (const auto *list = llvm::dyn_cast<llvm::GlobalVariable>(&constant))
    return list->getSection() == "llvm.metadata";
  return llvm::isa<llvm::ConstantArray, llvm::ConstantStruct>(constant) &&
         llvm::all_of(constant.users(), [](const llvm::User *user) { return is_metadata(*user); });
}

// Whether the program names a function other than to call it, by whatever type. Code outside that
// asks the dynamic linker for it is not looked at.
inline bool takes_address_of(const llvm::Function &function) {
  return llvm::any_of(function.uses(), [](const llvm::Use &use) {
    const llvm::User *user = use.getUser();
    if (const auto *call = llvm::dyn_cast<llvm::CallBase>(user))
      return !call->isCallee(&use);
    return !llvm::isa<llvm::BlockAddress>(user) && !is_metadata(*user);
  });
}

} // namespace tandem
