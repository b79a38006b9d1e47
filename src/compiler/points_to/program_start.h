// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the system runs of a program by itself: main, and what comes before it and after it.
#pragma once

#include "llvm/IR/Module.h"

#include <vector>

namespace tandem {

struct ProgramStart {
  const llvm::Function *main = nullptr; // null where the module does not define it
  // Constructors, functions that .preinit_array and .init_array lead to, resolvers of IFUNCs; and
  // what runs when the process ends. Each once.
  std::vector<const llvm::Function *> before;
  std::vector<const llvm::Function *> after;
};

ProgramStart program_start(const llvm::Module &module);

// The function of that name, by whatever name the module defines it; null where it does not.
const llvm::Function *main_function(const llvm::Module &module);

// Whether the system reads a variable for the functions to run, and nothing else does.
bool lists_start(const llvm::GlobalVariable &variable);

} // namespace tandem
