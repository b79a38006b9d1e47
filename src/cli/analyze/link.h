// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Links bitcode files into one module in memory.
#pragma once

#include "base/result.h"

#include "llvm/IR/Module.h"

#include <memory>
#include <string>
#include <vector>

namespace tandem {

// The module of `bitcode`, one file or more; `sources` are their names in messages. Where one
// defines `main` they are taken for the whole program, and nothing else is visible from outside.
// Error: a file that is no bitcode, or two that do not fit together.
Result<std::unique_ptr<llvm::Module>> link_bitcode(llvm::LLVMContext &context,
                                                   const std::vector<std::string> &bitcode,
                                                   const std::vector<std::string> &sources);

} // namespace tandem
