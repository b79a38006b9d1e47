// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program says of functions that it does not define, before it is analysed: at a link, and
// by `tandem analyze`.
#pragma once

#include "compiler/catalogue/catalogue.h"

#include <set>
#include <string>

namespace llvm {
class Module;
}

namespace tandem {

// Reads the program's promises (compiler/sections/promises.h), and tells the catalogue, and the
// module, which of its functions run code of the program's: hooks that it installs, and functions
// for memory that it replaces (compiler/pass/replaced.h). `native` are symbols that machine code of
// the same link defines. Whether code of the module was changed.
bool prepare(llvm::Module &module, Catalogue &catalogue, const std::set<std::string> &native);

} // namespace tandem
