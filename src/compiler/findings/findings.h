// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Findings: places in the program that its authors should look at, because they make sections
// slower, irrevocable or wrong (docs/findings.md lists the rules). A finding is advice: a rule may
// miss what the analysis cannot see, and none changes what the compiler does.
#pragma once

#include "compiler/cold/cold_paths.h"
#include "compiler/effects/effects.h"
#include "compiler/points_to/points_to.h"
#include "compiler/report/report.h"
#include "compiler/sections/lock_calls.h"
#include "compiler/sections/section.h"
#include "compiler/sharing/sharing.h"

#include "llvm/IR/Module.h"

#include <vector>

namespace tandem {

// What the analysis found out, as the rules read it. Everything outlives the view.
struct AnalysisView {
  const llvm::Module &module;
  const LockCalls &locks;
  const std::vector<Section> &sections;
  const std::vector<SectionEffects> &effects; // of the sections, in their order
  const std::vector<Location> &locations;     // Effects::locations()
  const PointsToAnalysis &points_to;
  const Sharing &sharing;
};

// The findings of every rule, in no particular order (sort_report has one).
std::vector<ReportFinding> find_problems(const AnalysisView &view);

} // namespace tandem
