// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Calls that let one thread run a function while all others wait for it: pthread_once, call_once of
// C11 and of C++.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

namespace tandem {

bool is_once(const llvm::CallBase &call);
// Whether all uses of the function hand it to such calls, or it is the helper in the C++ library
// that calls what std::call_once was given.
bool is_for_once(const llvm::Function &function);
// The functions that such a call lets one thread run.
llvm::SmallVector<const llvm::Function *, 1> once_targets(const llvm::CallBase &call,
                                                          const PointsToAnalysis &points_to);

} // namespace tandem
