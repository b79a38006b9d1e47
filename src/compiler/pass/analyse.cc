// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/pass/analyse.h"

#include "compiler/conflicts/conflicts.h"
#include "compiler/convert/sites.h"
#include "compiler/effects/condition_changes.h"
#include "compiler/effects/effects.h"
#include "compiler/findings/findings.h"
#include "compiler/findings/targets.h"
#include "compiler/pass/caller_conflicts.h"
#include "compiler/pass/link_inputs.h"
#include "compiler/pass/parts.h"
#include "compiler/pass/process_colour.h"
#include "compiler/sections/access_path.h"
#include "compiler/sections/lock_functions.h"
#include "compiler/strict/strict.h"

#include "llvm/IR/DebugInfoMetadata.h"

#include <algorithm>
#include <chrono>
#include <sys/resource.h>

namespace tandem {
namespace {

using namespace llvm;

// Of shared locations: what no other thread touches is nobody's business.
template <typename Numbers>
std::vector<std::string> names_of(const Numbers &numbers, const std::vector<Location> &locations) {
  std::vector<std::string> names;
  for (const std::uint32_t number : numbers)
    if (locations[number].shared)
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

ReportAccess describe(const SectionAccess &access, const std::vector<Location> &locations) {
  ReportAccess described;
  described.location = locations[access.location].name;
  described.writes = access.writes;
  described.function = source_name(*access.instruction->getFunction());
  if (const DebugLoc &place = access.instruction->getDebugLoc()) {
    described.file = cast<DIScope>(place.getScope())->getFilename().str();
    described.line = place.getLine();
  }
  return described;
}

// A member of a class of <stdexcept>, <exception> or <new>, by its name in the source.
bool is_standard_exception(StringRef function) {
  return function.consume_front("std::") &&
         (function.starts_with("exception::") || function.starts_with("bad_") ||
          function.substr(0, function.find("::")).ends_with("_error") ||
          function.starts_with("invalid_argument::") || function.starts_with("out_of_range::"));
}

// Whether exceptions are all that cannot be undone.
bool only_throws(const SectionEffects &effects) {
  return all_of(effects.irrevocable, [](const ReportIrrevocable &action) {
    return StringRef(action.callee).starts_with("__cxa_") || action.callee == "_Unwind_Resume" ||
           action.callee == "std::terminate()" || action.callee == "__clang_call_terminate" ||
           is_standard_exception(action.callee);
  });
}

ReportSection describe(const Section &section, const SectionEffects &effects,
                       const Classified &classified, const std::vector<Location> &locations,
                       const LockFields &fields) {
  ReportSection described;
  described.name = section.name;
  described.kind = section.kind;
  described.file = section.file;
  described.line = section.line;
  described.strict = section.strict && !(section.may_throw && only_throws(effects));
  described.klass = classified.klass;
  described.irrevocable_at = irrevocable_at(effects);
  for (const auto &[colour, mode] : classified.locks)
    described.locks.push_back(ReportLock{colour_name(colour), mode});
  described.reads = names_of(effects.reads, locations);
  described.writes = names_of(effects.writes, locations);
  described.irrevocable = effects.irrevocable;
  for (const SectionAccess &access : effects.accesses)
    described.accesses.push_back(describe(access, locations));
  if (section.kind == SectionKind::lock_region) {
    ReportRegion region;
    region.names = section.entry.locks;
    region.primitive = section.entry.primitive;
    region.shared = section.entry.shared;
    region.field = fields.name_of(section.entry);
    region.kind = kind_of(section.entry.operation);
    region.exits = static_cast<std::uint32_t>(section.exits.size());
    region.shape = section.shape;
    described.lock.push_back(std::move(region));
  }
  return described;
}

void add_conflicts(Report &report, const ConflictGraph &graph,
                   const std::vector<Location> &locations) {
  std::map<std::vector<std::uint32_t>, SharedNames> lists;
  for (const auto &[pair, on] : graph.edges()) {
    const auto [a, b] = pair;
    const auto [names, fresh] = lists.try_emplace(on);
    if (fresh)
      names->second = names_of(on, locations);
    report.sections[a].conflicts.push_back({report.sections[b].name, names->second});
    if (a != b)
      report.sections[b].conflicts.push_back({report.sections[a].name, names->second});
  }
}

void add_colours(Report &report, const std::vector<ColourMembers> &colours,
                 const ConflictGraph &graph, const std::vector<Location> &locations) {
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

// What a node's objects are and where the first of them comes from.
void describe_objects(const NodeObjects &objects, ReportLocation &location) {
  if (!objects.globals.empty()) {
    location.kind = "global";
    SmallVector<DIGlobalVariableExpression *, 1> expressions;
    objects.globals.front()->getDebugInfo(expressions);
    if (!expressions.empty()) {
      location.file = expressions.front()->getVariable()->getFilename().str();
      location.line = expressions.front()->getVariable()->getLine();
    }
    return;
  }
  const bool heap = !objects.heap.empty();
  location.kind = heap ? "heap" : objects.stack.empty() ? "external" : "stack";
  if (!heap && objects.stack.empty())
    return;
  const auto *allocation =
      dyn_cast<Instruction>(heap ? objects.heap.front() : objects.stack.front());
  if (allocation == nullptr)
    return;
  if (const DebugLoc &place = allocation->getDebugLoc()) {
    location.file = cast<DIScope>(place.getScope())->getFilename().str();
    location.line = place.getLine();
  }
}

void add_locations(Report &report, const std::set<std::uint32_t> &touched, const Effects &effects) {
  std::set<std::string> seen;
  for (const std::uint32_t number : touched) {
    const Location &location = effects.locations()[number];
    if (!location.shared || !seen.insert(location.name).second)
      continue;
    ReportLocation described{
        .name = location.name, .kind = "", .file = "", .aliases = effects.aliases(number)};
    describe_objects(effects.points_to().objects(location.node), described);
    report.locations.push_back(std::move(described));
  }
}

void add_threads(Report &report, const Sharing &sharing, const PointsToAnalysis &points_to) {
  for (const Entry &entry : sharing.entries())
    report.threads.push_back(
        {is_library_function(*entry.function)
             ? fmt::format("{}", fmt::join(thread_functions(*entry.function, points_to), " or "))
             : source_name(*entry.function),
         std::string(to_string(entry.kind)), entry.many});
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
  const PointsToAnalysis points_to(module, catalogue, options.points_to);
  const Sharing sharing(module, points_to);
  {
    ConditionChanges changes(module, points_to, sharing, options.points_to);
    analysis.sections = discover_sections(module, &changes);
  }
  std::optional<CallerConflicts> by_caller;
  if (options.points_to == PointsTo::sensitive)
    by_caller.emplace(module, catalogue, analysis.sections);
  Effects effects(module, catalogue, points_to, sharing);
  const bool meets_others = may_meet_other_outputs(module, options, catalogue);
  std::vector<SectionEffects> section_effects = effects.of(analysis.sections, meets_others);
  const std::vector<Location> &locations = effects.locations();
  if (!options.check_effects_drop.empty())
    if (Status dropped = drop_effect(options.check_effects_drop, section_effects, locations,
                                     points_to.has_objects());
        !dropped)
      analysis.observation = dropped.error();
  const auto may_overlap = [&](std::size_t a, std::size_t b) {
    return (!by_caller || by_caller->may_conflict(a, b)) &&
           sharing.may_overlap(section_effects[a].entries, section_effects[b].entries);
  };
  const auto may_meet = [&](const Location &a, const Location &b) {
    return effects.may_meet(a, b);
  };
  const ConflictGraph graph(section_effects, locations, may_overlap, may_meet);
  const std::vector<bool> outside =
      meets_others ? need_process_colour(analysis.sections, section_effects, effects, graph)
                   : std::vector<bool>(analysis.sections.size());
  if (options.check_effects && !analysis.observation)
    analysis.observation = observe(module, analysis.sections, section_effects, locations, graph,
                                   points_to, options.check_effects_drop);
  // Lock regions take no colours. Where nothing does, the report shows theirs.
  const bool any_enforced =
      options.enforcement != Enforcement::none && any_of(analysis.sections, [](const Section &x) {
        return x.kind != SectionKind::lock_region;
      });
  const auto may_take = [&](std::size_t section) {
    return !any_enforced || analysis.sections[section].kind != SectionKind::lock_region;
  };
  // Sections that have the process's colour need no other against each other.
  const ConflictGraph rest(
      section_effects, locations,
      [&](std::size_t a, std::size_t b) {
        return !(outside[a] && outside[b]) && may_take(a) && may_take(b) && may_overlap(a, b);
      },
      may_meet);
  const std::vector<ColourMembers> colours = unite_colours(colour(rest), rest.size());
  const std::vector<Classified> classes = classify(section_effects, colours);

  report.output = options.link_output;
  report.enforcement = {std::string(to_string(options.enforcement)),
                        std::string(to_string(options.enforcement))};
  const LockFields fields(module);
  std::set<std::uint32_t> touched;
  for (std::size_t i = 0; i < analysis.sections.size(); ++i) {
    report.sections.push_back(
        describe(analysis.sections[i], section_effects[i], classes[i], locations, fields));
    touched.insert(section_effects[i].reads.begin(), section_effects[i].reads.end());
    touched.insert(section_effects[i].writes.begin(), section_effects[i].writes.end());
  }
  add_conflicts(report, graph, locations);
  add_colours(report, colours, rest, locations);
  add_process_colour(report, outside, section_effects, locations, points_to);
  report.shared = names_of(touched, locations);
  add_locations(report, touched, effects);
  add_threads(report, sharing, points_to);
  report.lock_sites = lock_sites(module, analysis.sections);
  report.externals = externals_of(module, options);
  const LockCalls locks(module);
  report.findings = find_problems(
      {module, locks, analysis.sections, section_effects, locations, points_to, sharing});
  for (ReportFinding &violation : strict_violations(report))
    report.findings.push_back(std::move(violation));
  sort_report(report); // sections are in this order already
  if (options.enforcement == Enforcement::stm || options.enforcement == Enforcement::hybrid ||
      options.enforcement == Enforcement::htm)
    analysis.unwritten_reads = effects.unwritten_reads(analysis.sections, section_effects);
  analysis.mixed_atomics = effects.mixed_atomics();
  analysis.reached = effects.reached();
  analysis.cancels = find_cancels(analysis.sections,
                                  [&](const CallBase &call) { return points_to.targets(call); });
  analysis.parts = parts_of(analysis.sections, graph, points_to);
  report.analysis.mode = to_string(options.points_to);
  report.analysis.instructions = module.getInstructionCount();
  if (!points_to.has_objects())
    report.analysis.limits.push_back(AnalysisLimit::inclusion);
  if (!points_to.has_all_contexts())
    report.analysis.limits.push_back(AnalysisLimit::contexts);
  if (by_caller && !by_caller->known())
    report.analysis.limits.push_back(AnalysisLimit::callers);
  report.analysis.peak_mib = peak_mib();
  report.analysis.seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return analysis;
}

Report analyse(Module &module, const PassOptions &options, const Catalogue &catalogue) {
  return analyse_program(module, options, catalogue).report;
}

} // namespace tandem
