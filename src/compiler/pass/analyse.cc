// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/analyse.h"

#include "compiler/conflicts/conflicts.h"
#include "compiler/effects/effects.h"
#include "compiler/pass/link_inputs.h"
#include "compiler/sections/access_path.h"

#include "llvm/IR/DebugInfoMetadata.h"

#include <algorithm>
#include <chrono>
#include <sys/resource.h>

namespace tandem {
namespace {

using namespace llvm;

template <typename Numbers>
std::vector<std::string> names_of(const Numbers &numbers, const std::vector<Location> &locations) {
  std::vector<std::string> names;
  for (const std::uint32_t number : numbers)
    names.push_back(locations[number].name);
  std::sort(names.begin(), names.end());
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

std::string_view kind_of(LockOperation operation) {
  switch (operation) {
  case LockOperation::lock:
    return "mutex";
  case LockOperation::trylock:
    return "trylock";
  case LockOperation::wait:
    return "wait";
  case LockOperation::unlock:
    break;
  }
  CHECK(false, "a region entered by operation {}", static_cast<int>(operation));
}

// How often an irrevocable action runs decides when the section becomes irrevocable: always, or
// when it gets there.
IrrevocableAt irrevocable_at(const SectionEffects &effects) {
  if (effects.irrevocable.empty())
    return IrrevocableAt::never;
  return effects.irrevocable_at_begin ? IrrevocableAt::begin : IrrevocableAt::reach;
}

ReportSection describe(const Section &section, const SectionEffects &effects,
                       const Classified &classified, const std::vector<Location> &locations) {
  ReportSection described;
  described.name = section.name;
  described.kind = section.kind;
  described.file = section.file;
  described.line = section.line;
  described.klass = classified.klass;
  described.irrevocable_at = irrevocable_at(effects);
  for (const auto &[colour, mode] : classified.locks)
    described.locks.push_back(ReportLock{colour_name(colour), mode});
  described.reads = names_of(effects.reads, locations);
  described.writes = names_of(effects.writes, locations);
  described.irrevocable = effects.irrevocable;
  if (section.kind == SectionKind::lock_region) {
    ReportRegion region;
    region.names = {section.entry.lock};
    region.kind = kind_of(section.entry.operation);
    region.exits = static_cast<std::uint32_t>(section.exits.size());
    region.shape = section.shape;
    described.lock.push_back(std::move(region));
  }
  return described;
}

void add_conflicts(Report &report, const ConflictGraph &graph,
                   const std::vector<Location> &locations) {
  for (const auto &[pair, on] : graph.edges()) {
    const auto [a, b] = pair;
    const std::vector<std::string> names = names_of(on, locations);
    report.sections[a].conflicts.push_back({report.sections[b].name, names});
    if (a != b)
      report.sections[b].conflicts.push_back({report.sections[a].name, names});
  }
}

void add_colours(Report &report, const std::vector<Colour> &colours, const ConflictGraph &graph,
                 const std::vector<Location> &locations) {
  for (std::size_t number = 0; number < colours.size(); ++number) {
    std::set<std::uint32_t> protects;
    for (const std::size_t a : colours[number]) {
      report.sections[a].colours.push_back(colour_name(number));
      for (const std::size_t b : colours[number]) {
        const std::vector<std::uint32_t> &common = graph.common(a, b);
        // A section's conflict with itself belongs to the first colour that it has.
        if (a != b || colours[number].size() == 1)
          protects.insert(common.begin(), common.end());
      }
    }
    report.colours.push_back({colour_name(number), names_of(protects, locations)});
  }
}

std::vector<std::string> externals_of(const Module &module, const PassOptions &options) {
  std::set<std::string> names;
  for (const Function &function : module)
    if (function.isDeclaration() && !function.isIntrinsic() && !function.use_empty())
      names.insert(source_name(function));
  std::vector<std::string> externals(names.begin(), names.end());
  for (std::string &object : inspect_link_inputs(options.link_inputs).native)
    externals.push_back(std::move(object));
  return externals;
}

ReportFinding finding_at(std::string rule, const CallBase &call, std::string message) {
  ReportFinding finding{std::move(rule), "", 0, std::move(message)};
  if (const DebugLoc &location = call.getDebugLoc()) {
    finding.file = cast<DIScope>(location.getScope())->getFilename().str();
    finding.line = location.getLine();
  }
  return finding;
}

void add_findings(Report &report, const Section &section, const SectionEffects &effects) {
  for (const CallBase *call : effects.lock_operations) {
    const auto *callee = cast<Function>(call->getCalledOperand()->stripPointerCasts());
    report.findings.push_back(finding_at(
        "lock-in-section", *call,
        fmt::format("'{}' inside atomic section '{}': a thread that holds this lock and enters a "
                    "section may wait for one that is in the section and waits for the lock",
                    callee->getName().str(), section.name)));
  }
}

double peak_mib() {
  struct rusage usage{};
  return ::getrusage(RUSAGE_SELF, &usage) == 0 ? static_cast<double>(usage.ru_maxrss) / 1024 : 0;
}

} // namespace

Analysis analyse_program(Module &module, const PassOptions &options, const Catalogue &catalogue) {
  const auto begin = std::chrono::steady_clock::now();
  Analysis analysis;
  Report &report = analysis.report;
  analysis.sections = discover_sections(module);
  Effects effects(module, catalogue);
  std::vector<SectionEffects> section_effects;
  for (const Section &section : analysis.sections)
    section_effects.push_back(effects.of(section));
  const std::vector<Location> &locations = effects.locations();
  const ConflictGraph graph(section_effects, locations);
  const std::vector<Colour> colours = colour(graph);
  const std::vector<Classified> classes = classify(section_effects, colours);

  report.output = options.link_output;
  report.enforcement = {std::string(to_string(options.enforcement)),
                        std::string(to_string(built_enforcement(options.enforcement)))};
  std::set<std::uint32_t> touched;
  for (std::size_t i = 0; i < analysis.sections.size(); ++i) {
    report.sections.push_back(
        describe(analysis.sections[i], section_effects[i], classes[i], locations));
    touched.insert(section_effects[i].reads.begin(), section_effects[i].reads.end());
    touched.insert(section_effects[i].writes.begin(), section_effects[i].writes.end());
    add_findings(report, analysis.sections[i], section_effects[i]);
  }
  add_conflicts(report, graph, locations);
  add_colours(report, colours, graph, locations);
  report.shared = names_of(touched, locations);
  report.externals = externals_of(module, options);
  sort_report(report); // sections are in this order already
  report.analysis.mode = to_string(options.points_to);
  report.analysis.instructions = module.getInstructionCount();
  report.analysis.peak_mib = peak_mib();
  report.analysis.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return analysis;
}

Report analyse(Module &module, const PassOptions &options, const Catalogue &catalogue) {
  return analyse_program(module, options, catalogue).report;
}

} // namespace tandem
