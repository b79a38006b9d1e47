// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From lock operations to atomic blocks. A function with converted sites runs in one of two modes:
// outside, holding no converted lock of its own, or inside a section, from the acquisition that
// found none held to the release that leaves none held. So sections cover regions that overlap
// without nesting, and many exits.
//
// Code that runs in both modes exists twice. Inside, how many locks are held is counted at compile
// time where all paths agree, else in a local variable; a release that may or may not be the last
// asks it. What only mistaken paths reach, a release outside or a return inside, traps: such a path
// in the original would release a lock that it does not hold, or was declared not to exist.
#pragma once

#include "compiler/convert/sites.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"

#include <optional>
#include <string>
#include <vector>

namespace tandem {

// A wait for a condition in a section that some lock besides the one that it gives up keeps open.
struct SleepInside {
  const llvm::CallBase *sleep;
  const llvm::CallBase *from; // where the section begins
  std::string also;           // the other lock, as far as the text tells
};

// What became of a function.
struct ModesResult {
  std::size_t sections = 0;               // atomic blocks made
  std::size_t counted = 0;                // those that count their locks while they run
  std::size_t copied = 0;                 // basic blocks that exist twice
  std::size_t merged = 0;                 // acquisitions that lie in a section already
  std::vector<llvm::BasicBlock *> inside; // wholly in sections
  // An acquisition in a section of a lock of which some regions stay real; null where there is
  // none.
  const llvm::CallBase *looks_inside = nullptr;
  std::optional<SleepInside> sleeps_inside;
};

// Puts markers of atomic blocks (compiler/sections/blocks.h) around what `sites` of `function`
// guard. The function has no landing pads. `held`: instructions that some path reaches with a lock
// held, so that all others are mistakes inside; null where that is not known. `always`: that none
// reaches without, so that sections do not end before them and none begins behind them.
ModesResult split_modes(llvm::Function &function, const std::vector<ConvertedSite> &sites,
                        const llvm::DenseSet<const llvm::Instruction *> *held,
                        const llvm::DenseSet<const llvm::Instruction *> &always);

} // namespace tandem
