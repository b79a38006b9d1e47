// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a value tells about whether a trylock succeeded.
#pragma once

#include "compiler/sections/lock_calls.h"

#include "llvm/IR/BasicBlock.h"

#include <optional>

namespace tandem {

// Which result of `function` means that its only operation, the trylock `site`, acquired; nothing
// where that cannot be told from the result.
std::optional<Acquired> returned_result(const llvm::Function &function, const LockSite &site);

// Whether `function`, whose only operation is the trylock `site`, comes back only once that has
// acquired, and then once: it tries in a loop.
bool acquires_in_loop(const llvm::Function &function, const LockSite &site, const LockCalls &calls);

// Where `terminator` asks whether the acquisition at `entry`, a trylock or a lock that returns an
// error's number, succeeded: the block that runs if it did.
// Null where it asks something else, and for locks of programs with robust mutexes.
const llvm::BasicBlock *acquired_side(const LockSite &entry, const llvm::Instruction &terminator,
                                      const LockCalls &calls);

} // namespace tandem
