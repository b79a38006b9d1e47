// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Whether a function releases as many converted locks as it acquires, on every path, and never one
// of its caller's. Paths are told apart by the results of trylocks and by local flags.
#pragma once

#include "compiler/convert/sites.h"
#include "compiler/sections/changes.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/IR/Function.h"

#include <string>

namespace tandem {

struct Balance {
  bool returns_inside = false;        // some path may return with more locks than it began with
  bool by_exception = false;          // and it does so by an exception that it hands on
  bool releases_callers = false;      // some path may release before it acquires
  const llvm::CallBase *at = nullptr; // the first site that shows it
  // If it is not good: as Region::doubt.
  std::string doubt;
  // If it is good: the instructions that some path reaches with a lock held.
  llvm::DenseSet<const llvm::Instruction *> inside;
  [[nodiscard]] bool good() const { return !returns_inside && !releases_callers; }
};

// `changes` says whether a condition that is asked twice is the same both times; it is asked only
// where the result depends on that.
Balance balance_of(const llvm::Function &function, const LockCalls &calls, const NamedLocks &named,
                   Changes &changes);

// Of a function that is declared to be balanced: instructions that no path reaches with no such
// lock held, if it is a path on which it is balanced.
llvm::DenseSet<const llvm::Instruction *>
always_inside(const llvm::Function &function, const LockCalls &calls, const NamedLocks &named);

// Of the locks whose operations `counts` is true for.
Balance balance_of(const llvm::Function &function, const LockCalls &calls,
                   llvm::function_ref<bool(const LockSite &)> counts, Changes &changes);

} // namespace tandem
