// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The colour of the process: what keeps apart sections of outputs that are planned separately, a
// program and a library or plugin that it loads (docs/design/0031-enforcement.md).
#pragma once

#include "compiler/catalogue/catalogue.h"
#include "compiler/conflicts/conflicts.h"
#include "compiler/options/options.h"
#include "compiler/report/report.h"

#include "llvm/IR/Module.h"

#include <vector>

namespace tandem {

// Whether sections of another output may run in the same process: `module` is no program, or calls
// or reads what the catalogue knows nothing of, which may be code with sections or load it.
bool may_meet_other_outputs(const llvm::Module &module, const PassOptions &options,
                            const Catalogue &catalogue);

// For each section whether it needs the colour of the process: it may touch memory that code
// outside the module can reach; or it conflicts with a section that code outside may run, perhaps
// as part of a section of its own, whose colours know nothing of this module's memory.
std::vector<bool> need_process_colour(const std::vector<Section> &sections,
                                      const std::vector<SectionEffects> &effects,
                                      const Effects &program, const ConflictGraph &graph);

// Gives the sections for which `outside` is true the colour of the process, kProcessColour, before
// all others. Some section of another output may hold it exclusively: so they are no longer pure.
void add_process_colour(Report &report, const std::vector<bool> &outside,
                        const std::vector<SectionEffects> &effects,
                        const std::vector<Location> &locations, const PointsToAnalysis &points_to);

} // namespace tandem
