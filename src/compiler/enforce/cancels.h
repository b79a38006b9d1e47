// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cancels: which sections the program may undo by itself (tandem_cancel, tandem_cancel_all of
// tandem/transaction.h).
#pragma once

#include "base/result.h"
#include "compiler/options/options.h"
#include "compiler/sections/section.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Module.h"

#include <string>
#include <vector>

namespace tandem {

// Of each section: a shortest chain of calls to a cancel that undoes it, "f (a.c:3) → g (a.c:9) →
// tandem_cancel"; empty where there is none. tandem_cancel undoes the innermost section that is
// running, tandem_cancel_all those around it too.
using Cancels = std::vector<std::string>;

// Whether the program calls a cancel at all.
bool calls_cancel(const llvm::Module &module);

// `targets`: the functions of the program that a call may run.
Cancels find_cancels(
    const std::vector<Section> &sections,
    llvm::function_ref<llvm::ArrayRef<const llvm::Function *>(const llvm::CallBase &)> targets);

// Where nothing is cancelled, blocks need no way past themselves (below): removes it. Whether the
// module changed.
bool remove_ways_past_blocks(llvm::Module &module);

// tandem.h gives a block a way past its body, from its enter marker to its end, which no execution
// takes: `br i1 false`. Makes it depend on a call of kCancelled instead, which the wrapper of the
// block's function decides. Error: there is none.
Status open_way_past(const Section &block);
inline constexpr const char *kCancelled = "tandem.cancelled";

// Error: why `mode` cannot cancel the section, one line. `irrevocable`: what every execution of it
// does that cannot be undone; empty: nothing.
Status check_cancel(const Section &section, const std::string &chain,
                    const std::string &irrevocable, Enforcement mode);

} // namespace tandem
