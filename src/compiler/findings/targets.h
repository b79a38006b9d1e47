// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which functions a call, or a signal, leads to as far as advice goes.
#pragma once

#include "compiler/points_to/points_to.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/IR/InstrTypes.h"

#include <cstddef>
#include <string>
#include <vector>

namespace tandem {

// The functions that a call enters, as far as advice goes: a pointer's targets count only where
// they are called as what they are, and the program takes their address.
inline llvm::ArrayRef<const llvm::Function *> likely_targets(const llvm::CallBase &call,
                                                             const PointsToAnalysis &points_to) {
  return points_to.typed_targets(call);
}

// A call by pointer that may enter more functions than these: which of them a thread gets to the
// text does not tell.
inline constexpr std::size_t kFewTargets = 4;

// likely_targets(), none where there are more than a few: of a pointer, or of a function of a
// library that calls back what it was given.
inline llvm::ArrayRef<const llvm::Function *> few_targets(const llvm::CallBase &call,
                                                          const PointsToAnalysis &points_to) {
  const auto targets = likely_targets(call, points_to);
  return targets.size() > kFewTargets ? llvm::ArrayRef<const llvm::Function *>() : targets;
}

// Whether the program may have made a function a signal handler: it names it other than to call it,
// and by its type the function gets a signal, or also what sa_sigaction gets, or asks for nothing.
bool takes_signal(const llvm::Function &function);

// The functions that an entry's thread begins with, as messages have them: of what runs inside the
// C++ library, those of the program that it leads to first. Never none.
std::vector<std::string> thread_functions(const llvm::Function &entry,
                                          const PointsToAnalysis &points_to);
// The same in quotes; if they are many, only how many.
std::string thread_name(const llvm::Function &entry, const PointsToAnalysis &points_to);

} // namespace tandem
