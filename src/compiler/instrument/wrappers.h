// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls of library functions in transactional clones: the catalogue names the transactional version
// (wrapper) that runs in their place (docs/safe-library.md).
#pragma once

#include "compiler/catalogue/catalogue.h"

#include "llvm/IR/InstrTypes.h"
#include "llvm/IR/Module.h"

#include <vector>

namespace tandem {

// Makes `call`, whose callee `entry` describes and which is not irrevocable, call its wrapper.
// False, and nothing has changed, where it has none.
bool call_wrapper(llvm::Module &module, llvm::CallBase &call, const CatalogueEntry &entry);

// The functions of the program that the callee may call before it returns (qsort's comparison):
// the wrapper finds their clones by address.
std::vector<llvm::Function *> callbacks_of(const llvm::CallBase &call, const CatalogueEntry &entry);

// Gives a table of `entries` pairs of functions to the runtime when the output is loaded. The C
// start files do that for the section .tm_clone_table, but only for what lies between them: the
// code that link-time optimisation makes comes after both.
void register_clone_table(llvm::Module &module, llvm::GlobalVariable &table, std::size_t entries);

} // namespace tandem
