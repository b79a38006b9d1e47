// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hidden-pointer: a pointer is used that may have been hidden in a number or in bytes, so that it
// counts as pointing to all that is hidden so.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"

#include <fmt/format.h>

namespace tandem {

void find_hidden_pointers(const AnalysisView &view, Findings &findings) {
  for (const PointsToAnalysis::HiddenUse &use : view.points_to.hidden_uses()) {
    ReportFinding finding = finding_at(
        "hidden-pointer", place_of(*use.place),
        fmt::format("this pointer may have been hidden in a number or in bytes: it counts as "
                    "pointing to any of the {} objects whose addresses are",
                    use.objects));
    finding.function = source_name(*use.place->getFunction());
    findings.push_back(std::move(finding));
  }
}

} // namespace tandem
