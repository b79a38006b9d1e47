// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Conversion files that the compiler accepts: a suggestion is converted, on a copy of the program,
// and what is refused stays a lock, with the compiler's own sentence as the reason.
#pragma once

#include "base/result.h"
#include "cli/analyze/suggest.h"
#include "compiler/catalogue/catalogue.h"
#include "compiler/options/options.h"

#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace tandem {

// As suggest_conversion(), of a linked module that `report` was made from.
Result<std::string> accepted_suggestion(const llvm::Module &module, const Report &report,
                                        const std::string &program,
                                        const std::vector<Profile> &profiles,
                                        const PassOptions &options, const Catalogue &catalogue);

} // namespace tandem
