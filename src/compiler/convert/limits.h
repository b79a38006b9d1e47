// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program may do with locks that a section cannot stand for, or where an operation on a
// converted lock could not be found.
#pragma once

#include "compiler/convert/file.h"
#include "compiler/convert/guards.h"
#include "compiler/convert/sites.h"
#include "compiler/points_to/points_to.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/IR/Module.h"

namespace tandem {

// Before take_over(). `shared`: the module is a shared library. Error: `file:line: ...`.
Status check_limits(llvm::Module &module, const LockCalls &calls, const NamedLocks &named,
                    const PointsToAnalysis &points_to, const LibraryLocks &library, bool shared);

} // namespace tandem
