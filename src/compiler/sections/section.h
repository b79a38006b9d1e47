// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic sections of a linked module: functions marked atomic, and regions between the acquisition
// and the release of a lock. Discovery only reads the module.
#pragma once

#include "compiler/report/report.h"
#include "compiler/sections/lock_calls.h"

#include "llvm/ADT/DenseSet.h"
#include "llvm/IR/Function.h"
#include "llvm/IR/InstrTypes.h"

#include <string>
#include <vector>

namespace tandem {

struct Section {
  std::string name; // unique in the module
  SectionKind kind = SectionKind::function;
  llvm::Function *function = nullptr; // the marked function, or the one that contains the region
  std::string file;
  unsigned line = 0; // 0: unknown
  // Optimised before the pass saw it: calls of the function may have been merged or moved, so it
  // can be reported and no longer be made atomic.
  bool optimised = false;
  // Only for lock regions:
  LockSite entry;
  std::vector<const llvm::CallBase *>
      exits; // releases, and calls that return with the lock released
  RegionShape shape = RegionShape::same_function;
  // What runs with the lock held, in `function`; for a marked function empty: all of it.
  std::vector<const llvm::Instruction *> body;
};

// Annotation that marks a function atomic (`__attribute__((atomic))`, TANDEM_ATOMIC).
inline constexpr const char *kAtomicAnnotation = "tandem.atomic";
inline constexpr const char *kOptimisedAnnotation = "tandem.atomic.optimised";

// All sections, in order of file, line and name.
std::vector<Section> discover_sections(llvm::Module &module);

} // namespace tandem
