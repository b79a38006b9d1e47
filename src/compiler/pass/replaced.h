// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions for memory that the program defines in place of a library's: the library's others call
// them. [new.delete] of the C++ standard says which: `operator new[]` calls `operator new`, sized
// and nothrow versions the plain ones.
#pragma once

#include "compiler/catalogue/catalogue.h"

#include <set>
#include <string>

namespace llvm {
class Module;
}

namespace tandem {

// Where the program defines an allocation function of C++, and calls another that the library
// defines by it, a function of the program that does what the library's would takes its place: the
// analysis then sees what runs. Before the module is analysed. `native`: symbols that machine code
// of the link defines. Whether there was any.
bool show_replaced_operators(llvm::Module &module, const std::set<std::string> &native);

// Where the program defines malloc or one of its kin, or machine code an operator of C++, what the
// library allocates runs its code: the catalogue then says so.
void know_replaced_malloc(const llvm::Module &module, const std::set<std::string> &native,
                          Catalogue &catalogue);

} // namespace tandem
