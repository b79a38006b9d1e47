// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Atomic sections of a linked module: functions, blocks and lambdas marked atomic, and regions
// between the acquisition and the release of a lock. Discovery only reads the module.
#pragma once

#include "compiler/report/report.h"
#include "compiler/sections/changes.h"
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
  // The function that is atomic (function, lambda), or the one that contains the section.
  llvm::Function *function = nullptr;
  const llvm::Function *named_after = nullptr; // lambda: the function that it is written in
  std::string file;
  unsigned line = 0; // 0: unknown
  // Optimised before the pass saw it: its calls may have been merged or moved, so it can be
  // reported and no longer be made atomic.
  bool optimised = false;
  // Demands that nothing in it is irrevocable (kStrictAnnotation); checked by compiler/strict.
  bool strict = false;
  bool may_throw = false; // strict as it is, an exception may leave it or be caught in it
  LockSite entry;         // only for lock regions; of a block's, only the call: its enter marker
  // Lock regions: releases, and calls that return with the lock released. Blocks: the leave
  // markers.
  std::vector<const llvm::CallBase *> exits;
  std::vector<const llvm::CallBase *> partial;    // lock regions: release some of several locks
  RegionShape shape = RegionShape::same_function; // only for lock regions
  std::string doubt;                              // as Region::doubt
  // What runs in it, in `function`; empty where that is all of `function`.
  std::vector<const llvm::Instruction *> body;
};

// Annotation that marks a function atomic (`__attribute__((atomic))`, TANDEM_ATOMIC), and the one
// that include/tandem/tandem.hpp puts on what runs a lambda atomically.
inline constexpr const char *kAtomicAnnotation = "tandem.atomic";
inline constexpr const char *kOptimisedAnnotation = "tandem.atomic.optimised";
// Beside kAtomicAnnotation: `__attribute__((atomic_strict))`, TANDEM_ATOMIC_STRICT.
inline constexpr const char *kStrictAnnotation = "tandem.atomic.strict";
inline constexpr const char *kLambdaAnnotation = "tandem.lambda";
inline constexpr const char *kOptimisedLambdaAnnotation = "tandem.lambda.optimised";

// All sections, in order of file, line and name. Without `changes`, conditions that are asked again
// are taken not to have changed: for those who do not look at the regions of locks.
std::vector<Section> discover_sections(llvm::Module &module, Changes *changes = nullptr);

// Every call of the module that acquires, tries, waits for or releases a lock, or wakes waiters:
// with the sections that it begins or ends, or the reason why there are
// none. `sections` is what discover_sections() found.
std::vector<ReportLockSite> lock_sites(const llvm::Module &module,
                                       const std::vector<Section> &sections);

} // namespace tandem
