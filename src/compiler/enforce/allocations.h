// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Memory that a section allocates whatever it finds is allocated before it begins.
#pragma once

#include "compiler/catalogue/catalogue.h"

#include "llvm/IR/Function.h"
#include "llvm/IR/Instruction.h"

namespace tandem {

// Where each execution of `section` calls an allocator, before any other function and with
// arguments that are known when it is called, moves that call to its begin and marks it. Small
// functions that lead there become part of the section. Else nothing changes.
void allocate_first(llvm::Function &section, const Catalogue &catalogue);

// Whether the instruction has been marked: it need not be in the section.
bool is_allocated_first(const llvm::Instruction &instruction);

} // namespace tandem
