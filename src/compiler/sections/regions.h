// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lock regions: what runs between an acquisition and the releases that end it.
#pragma once

#include "compiler/report/report.h"
#include "compiler/sections/changes.h"
#include "compiler/sections/lock_calls.h"

#include <map>
#include <set>
#include <string>
#include <vector>

namespace tandem {

struct Region {
  LockSite entry;
  std::vector<const llvm::CallBase *> exits;
  std::vector<const llvm::CallBase *> partial; // release some of its locks, others stay held
  std::vector<const llvm::Instruction *> body;
  RegionShape shape = RegionShape::same_function;
  // escapes: why a condition that would keep it in its function is not taken to be the same each
  // time that it is asked; empty where there is none.
  std::string doubt;
};

// Named locks that a function releases without having acquired them: its caller's.
using ForeignReleases = std::map<const llvm::Function *, std::set<std::string>>;

ForeignReleases find_foreign_releases(const llvm::Module &module, const LockCalls &calls);

// Finds the region of every acquisition in a function. Locks are told apart by their
// access path, and paths through the function by its branches on a trylock's result and, where a
// region would leave its function otherwise, on local flags. So a region may seem to leave its
// function although a flag that is not looked at prevents it. The other way round only where
// two different paths name one lock, or, without `changes`, where a condition that both operations
// ask changes in between (Flags).
std::vector<Region> find_regions_in(const llvm::Function &function, const LockCalls &calls,
                                    const ForeignReleases &foreign, Changes *changes = nullptr);

// The regions of all functions that are no wrappers.
std::vector<Region> find_regions(const llvm::Module &module, const LockCalls &calls,
                                 const ForeignReleases &foreign, Changes *changes);

} // namespace tandem
