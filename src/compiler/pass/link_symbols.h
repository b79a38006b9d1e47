// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a link makes of symbols, beyond what the merged module shows.
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/pass/link_inputs.h"

#include "llvm/IR/Module.h"

namespace tandem {

// Marks as used (llvm.compiler.used) the variables that machine code or a linker script reaches by
// symbols of the linker's: those in a section whose bounds machine code asks for; all of them where
// a script defines symbols and the program declares variables that nothing else defines. What is
// used so counts as known to code outside the program.
void keep_linked_symbols(llvm::Module &module, const LinkInputs &inputs,
                         const Catalogue &catalogue);

} // namespace tandem
