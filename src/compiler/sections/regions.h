// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lock regions: what runs between an acquisition and the releases that end it.
#pragma once

#include "compiler/report/report.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/StringSet.h"

#include <vector>

namespace tandem {

struct Region {
  LockSite entry;
  std::vector<const llvm::CallBase *> exits;
  std::vector<const llvm::Instruction *> body;
  RegionShape shape = RegionShape::same_function;
};

// Finds the region of every acquisition that is not inside a wrapper. Locks are told apart by their
// access path, and paths through the function by its branches on a trylock's result; so a region
// may seem to leave its function although a flag that is not looked at prevents it, and never the
// other way round unless two different paths name one lock.
std::vector<Region> find_regions(const llvm::Module &module, const LockCalls &calls);

} // namespace tandem
