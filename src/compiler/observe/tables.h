// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the analysis says of a program, for a recorder that watches the program run and knows when
// it was wrong (docs/design/0018-dynamic-soundness.md).
#pragma once

#include "base/result.h"
#include "compiler/conflicts/conflicts.h"

#include <string>
#include <vector>

namespace tandem {

// The arguments of a call to code outside through which it reads or writes.
struct ExternalAccess {
  const llvm::CallBase *call;
  unsigned argument;
  bool reads;
  bool writes;
};

struct Observation {
  std::string table; // sections, labels, folds, effects, edges (include/tandem/observe.h)
  // What the program itself allocates: globals, allocas, arguments passed in memory, calls of
  // allocation functions; with their label.
  std::vector<std::pair<const llvm::Value *, std::uint64_t>> allocations;
  std::vector<const llvm::CallBase *> spawns; // calls that may start a thread
  std::vector<ExternalAccess> externals;
};

// Whether `callee` returns memory whose size malloc_usable_size() tells.
bool allocates(const llvm::Function &callee);

// What must be told to the recorder. Sections are numbered from 1, in their order.
// `drop`: "edge A B" leaves an edge out, to prove that the check finds it; all else is ignored.
// Error: the program is too large for the recorder.
Result<Observation> observe(const llvm::Module &module, const std::vector<Section> &sections,
                            const std::vector<SectionEffects> &effects,
                            const std::vector<Location> &locations, const ConflictGraph &graph,
                            const PointsToAnalysis &points_to, const std::string &drop);

// Deletes one effect, to prove that the check finds it: `which` is a line of the recorder's,
// "SECTION LABEL BEGIN END r|w"; "edge A B" is left to observe(). Error: there is no such effect.
Status drop_effect(const std::string &which, std::vector<SectionEffects> &effects,
                   const std::vector<Location> &locations, bool has_objects);

} // namespace tandem
