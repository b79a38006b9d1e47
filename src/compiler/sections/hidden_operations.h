// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on locks deep in templates of the C++ library, such as std::make_unique of a guard:
// what calls such a template is the program's, and no regions are made of it.
#pragma once

#include "compiler/sections/lock_functions.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <map>

namespace tandem {

class HiddenOperations {
public:
  explicit HiddenOperations(const llvm::Module &module);

  // An acquisition that `call` runs in a function of the library that stands for none; null where
  // there is none. It lives as long as this object.
  const LockFunction *behind(const llvm::CallBase &call);

private:
  const LockFunction *in(const llvm::Function &function);

  std::map<const llvm::Function *, LockFunction> known_; // what stands for an operation
  std::map<const llvm::Function *, const LockFunction *> found_;
};

} // namespace tandem
