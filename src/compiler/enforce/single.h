// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sections that do one thing to shared memory: a read, a write, or an update `place = place OP
// value`. Such a section can be one atomic instruction instead of a transaction, if every section
// that may conflict with it is one too: a transaction would neither see the instruction in its
// validation nor have its buffered writes seen by it.
#pragma once

#include "compiler/report/report.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/ArrayRef.h"

#include <set>
#include <utility>
#include <vector>

namespace tandem {

// A section, by its index, and what shared_instructions() says of it.
using SharedInstructions = std::pair<std::size_t, std::vector<llvm::Instruction *>>;

// Of `all`, those that become one atomic instruction. `report` describes the sections. None where
// the program has transactions of its own, which the report does not know.
std::set<std::size_t> single_operations(const llvm::Module &module, const Report &report,
                                        llvm::ArrayRef<SharedInstructions> all);

// Makes the emptied `section` what `body` is, with its operation atomic, sequentially consistent.
// `operation`: the shared instructions of `body`. In a process that is profiled it is counted as
// the section that `descriptor` describes.
void build_atomic(llvm::Function &section, const llvm::Function &body,
                  llvm::ArrayRef<llvm::Instruction *> operation, llvm::Constant *descriptor);

} // namespace tandem
