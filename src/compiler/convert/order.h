// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order in which real locks and sections are acquired while others are held, in a module whose
// converted locks are sections already.
#pragma once

#include "base/result.h"
#include "compiler/convert/file.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Module.h"

namespace tandem {

using BlocksInside = llvm::DenseSet<const llvm::BasicBlock *>; // wholly in sections

// Makes every wait of `function` for a real lock, a condition or a thread in a section a trap:
// the conversion file says that there is none. What the functions that it calls wait for stays.
void trap_waits(llvm::Function &function, const LockCalls &calls, const BlocksInside &inside);

// All sections count as one lock, since a transaction that becomes irrevocable excludes every
// other: if such a transaction waits for a real lock whose holder waits to begin a transaction,
// both wait for ever. Waiting for a condition or for another thread counts as waiting for a
// section, since that thread may have to begin one first. Error: the cycle, with a place for each
// step; or where a section may wait for a condition or a thread, or for a region that stays real.
// It names a lock of the section, where the function that waits acquires it.
// `outermost`: the file says that sections do not wait for such regions. Result: the calls in
// sections that might, as far as the text shows.
Result<std::vector<llvm::CallBase *>> check_order(llvm::Module &module, const BlocksInside &inside,
                                                  const LockCalls &calls,
                                                  const PointsToAnalysis &points_to,
                                                  const ConversionFile &file, bool outermost);

// That a section may have to wait for a region that stays real, at `acquisition`.
Error waits_inside(const llvm::CallBase &acquisition, std::string_view reached);

} // namespace tandem
