// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hidden-pointer: a pointer is used that may have been hidden in a number or in bytes, so that it
// counts as pointing to all that is hidden so. One finding a line; none in the C++ library's
// templates, which the program's authors do not write.
#include "compiler/findings/place.h"
#include "compiler/findings/rules.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/lock_functions.h"

#include <fmt/format.h>

#include <set>
#include <utility>

namespace tandem {

void find_hidden_pointers(const AnalysisView &view, Findings &findings) {
  // One for a line; for a function where there is no debug information.
  std::set<std::pair<Place, const llvm::Function *>> reported;
  for (const PointsToAnalysis::HiddenUse &use : view.points_to.hidden_uses()) {
    const Place place = place_of(*use.place);
    const llvm::Function *function = use.place->getFunction();
    if (is_library_function(*function) ||
        !reported.insert({place, place == Place{} ? function : nullptr}).second)
      continue;
    ReportFinding finding = finding_at(
        "hidden-pointer", place,
        fmt::format("this pointer may have been hidden in a number or in bytes: it counts as "
                    "pointing to any of the {} objects whose addresses are",
                    use.objects));
    finding.function = source_name(*function);
    findings.push_back(std::move(finding));
  }
}

} // namespace tandem
