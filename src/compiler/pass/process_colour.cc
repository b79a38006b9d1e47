// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/process_colour.h"

#include "compiler/points_to/program_start.h"

#include <algorithm>
#include <set>

namespace tandem {
namespace {

using namespace llvm;

bool is_known(const Function &function, const Catalogue &catalogue) {
  return function.isIntrinsic() || function.use_empty() ||
         !catalogue.lookup(function.getName()).stores_anything;
}

} // namespace

bool may_meet_other_outputs(const Module &module, const PassOptions &options,
                            const Catalogue &catalogue) {
  if (options.link_shared || main_function(module) == nullptr)
    return true;
  for (const Function &function : module)
    if (function.isDeclaration() && !is_known(function, catalogue))
      return true;
  return std::ranges::any_of(module.globals(), [&](const GlobalVariable &variable) {
    return variable.isDeclaration() && !variable.use_empty() &&
           !catalogue.is_own_variable(variable.getName().str());
  });
}

std::vector<bool> need_process_colour(const std::vector<Section> &sections,
                                      const std::vector<SectionEffects> &effects,
                                      const Effects &program, const ConflictGraph &graph) {
  const auto touches_outside = [&](std::uint32_t number) {
    return program.points_to().is_external(program.locations()[number].node);
  };
  const auto from_outside = [&](std::uint32_t entry) {
    const EntryKind kind = program.sharing().entries()[entry].kind;
    return kind == EntryKind::exported || kind == EntryKind::callback;
  };
  std::vector<bool> enterable(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i)
    enterable[i] = std::ranges::any_of(effects[i].entries, from_outside);
  std::vector<bool> result(sections.size());
  for (std::size_t i = 0; i < sections.size(); ++i)
    result[i] = std::ranges::any_of(effects[i].reads, touches_outside) ||
                std::ranges::any_of(effects[i].writes, touches_outside) ||
                program.meets_others(effects[i]);
  for (const auto &[pair, on] : graph.edges())
    if (enterable[pair.first] || enterable[pair.second])
      result[pair.first] = result[pair.second] = true;
  for (std::size_t i = 0; i < sections.size(); ++i)
    if (sections[i].kind == SectionKind::lock_region)
      result[i] = false; // keeps its lock
  return result;
}

void add_process_colour(Report &report, const std::vector<bool> &outside,
                        const std::vector<SectionEffects> &effects,
                        const std::vector<Location> &locations, const PointsToAnalysis &points_to) {
  std::set<std::string> protects;
  for (std::size_t i = 0; i < outside.size(); ++i) {
    if (!outside[i])
      continue;
    ReportSection &section = report.sections[i];
    const bool exclusive = section.klass == SectionClass::non_revocable;
    if (!exclusive)
      section.klass = SectionClass::hybrid;
    section.colours.insert(section.colours.begin(), kProcessColour);
    section.locks.insert(section.locks.begin(),
                         {kProcessColour, exclusive ? LockMode::exclusive : LockMode::shared});
    for (const auto *touched : {&effects[i].reads, &effects[i].writes})
      for (const std::uint32_t number : *touched)
        if (points_to.is_external(locations[number].node))
          protects.insert(locations[number].name);
  }
  if (std::ranges::find(outside, true) != outside.end())
    report.colours.insert(report.colours.begin(),
                          {kProcessColour, {protects.begin(), protects.end()}});
}

} // namespace tandem
