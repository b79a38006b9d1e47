// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem analyze`: prints a report, or makes one from sources first.
#include "base/file.h"
#include "cli/analyze/accepted.h"
#include "cli/analyze/arguments.h"
#include "cli/analyze/compile.h"
#include "cli/analyze/link.h"
#include "cli/analyze/suggest.h"
#include "cli/analyze/tables.h"
#include "cli/analyze/targets.h"
#include "cli/common/progress.h"
#include "cli/findings/findings.h"
#include "cli/graph/graph.h"
#include "cli/page/page.h"
#include "compiler/pass/analyse.h"
#include "compiler/pass/prepare.h"
#include "compiler/sections/unwrap.h"
#include "compiler/strict/strict.h"

#include "llvm/IR/DebugInfo.h"
#include "llvm/IR/LLVMContext.h"

#include <algorithm>
#include <filesystem>
#include <fmt/ranges.h>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>

namespace tandem {
namespace {

constexpr int kFindingsStatus = 1; // there are findings, and that was asked for

// A report, and how to speak of what it is about.
struct Subject {
  Report report;
  std::string name;
  std::vector<std::string> folders; // where relative names of its sources may begin
  std::vector<std::string>
      inputs; // its sources and what they include, as far as they were compiled
  // The conversion file that is asked for, where the compiler could be asked about it.
  std::optional<Result<std::string>> conversion;
};

// The files that debug information names, headers too.
void add_sources(const llvm::Module &module, std::vector<std::string> &inputs) {
  llvm::DebugInfoFinder finder;
  finder.processModule(module);
  std::set<const llvm::DIFile *> files;
  for (const llvm::DICompileUnit *unit : finder.compile_units())
    files.insert(unit->getFile());
  for (const llvm::DISubprogram *function : finder.subprograms())
    files.insert(function->getFile());
  for (const llvm::DIType *type : finder.types())
    files.insert(type->getFile());
  for (const llvm::DIGlobalVariableExpression *variable : finder.global_variables())
    files.insert(variable->getVariable()->getFile());
  for (const llvm::DIFile *file : files)
    if (file != nullptr) // an absolute name replaces the folder's
      inputs.push_back(
          (std::filesystem::path(file->getDirectory().str()) / file->getFilename().str()).string());
}

// What is compiled, and what is linked of it.
struct Plan {
  std::vector<CompileUnit> units;
  std::vector<BuildTarget> targets; // none: as one, or, with `by_main`, a program for each main
  bool by_main = false;
};

// The units that the targets have, and no others.
Plan only_needed(const std::vector<CompileUnit> &all, std::vector<BuildTarget> targets) {
  Plan plan;
  std::map<std::size_t, std::size_t> numbers;
  const auto renumber = [&](std::vector<std::size_t> &units) {
    for (std::size_t &unit : units) {
      const auto [known, fresh] = numbers.try_emplace(unit, plan.units.size());
      if (fresh)
        plan.units.push_back(all[unit]);
      unit = known->second;
    }
  };
  for (BuildTarget &target : targets) {
    renumber(target.units);
    renumber(target.archived);
    if (target.units.empty()) // all that it has is in static libraries
      target.units.swap(target.archived);
  }
  plan.targets = std::move(targets);
  return plan;
}

Result<Plan> plan_of_database(const Arguments &arguments) {
  Result<std::vector<CompileUnit>> all = read_database(arguments.database);
  if (!all)
    return all.error();
  const std::string folder =
      std::filesystem::path(database_file(arguments.database)).parent_path().string();
  if (arguments.files.empty()) {
    Result<std::vector<BuildTarget>> targets = find_targets(folder, *all);
    if (!targets)
      return targets.error();
    if (!targets->empty()) {
      Result<std::vector<BuildTarget>> chosen =
          choose_targets(std::move(*targets), arguments.target);
      if (!chosen)
        return chosen.error();
      return only_needed(*all, std::move(*chosen));
    }
  }
  Result<std::vector<CompileUnit>> units =
      first_of_each_file(arguments.database, std::move(*all), arguments.files);
  if (!units)
    return units.error();
  return Plan{std::move(*units), {}, arguments.files.empty()};
}

Result<Plan> plan_of(const Arguments &arguments) {
  Plan plan;
  if (arguments.database.empty()) {
    for (const std::string &file : arguments.files)
      plan.units.push_back({file, *compiler_of(file) == "tandem-c++", "", {}});
  } else {
    Result<Plan> found = plan_of_database(arguments);
    if (!found)
      return found;
    plan = std::move(*found);
  }
  for (CompileUnit &unit : plan.units)
    unit.flags.insert(unit.flags.end(), arguments.flags.begin(), arguments.flags.end());
  return plan;
}

Result<std::vector<BitcodeFile>> compile(const std::vector<CompileUnit> &units) {
  EndSignals signals; // takes effect after the folder is gone
  Result<PrivateFolder> folder = PrivateFolder::make();
  if (!folder)
    return folder.error();
  const Result<std::vector<std::string>> bitcode = compile_units(units, *folder, signals);
  if (!bitcode)
    return bitcode.error();
  std::vector<std::string> sources;
  sources.reserve(units.size());
  for (const CompileUnit &unit : units)
    sources.push_back(unit.source);
  return read_bitcode_files(*bitcode, sources);
}

// Where no link command says what a build makes: a program for each file with a `main`, the files
// without being libraries to all of them. With one `main`, or none, all files together.
Result<std::vector<BuildTarget>>
targets_by_main(const Plan &plan, const std::vector<BitcodeFile> &files, const std::string &name) {
  const Result<std::vector<std::size_t>> mains = with_main(files);
  if (!mains)
    return mains.error();
  std::vector<BuildTarget> targets;
  std::vector<std::size_t> others;
  for (std::size_t index = 0; index < files.size(); ++index)
    if (std::ranges::find(*mains, index) == mains->end())
      others.push_back(index);
  if (mains->size() < 2 && name.empty())
    return targets;
  std::map<std::string, unsigned> stems;
  const auto stem_of = [&](std::size_t unit) {
    return std::filesystem::path(plan.units[unit].source).stem().string();
  };
  for (const std::size_t unit : *mains)
    ++stems[stem_of(unit)];
  for (const std::size_t unit : *mains) {
    const std::string stem = stem_of(unit);
    targets.push_back({stems[stem] == 1 ? stem : plan.units[unit].source, {unit}, others});
  }
  return choose_targets(std::move(targets), name);
}

// What the profiles that the user names say.
Result<std::vector<Profile>> read_profiles(const Arguments &arguments) {
  std::vector<Profile> profiles;
  for (const std::string &path : arguments.profiles) {
    const Result<std::string> text = read_file(path);
    if (!text)
      return text.error();
    Result<Profile> profile = profile_from_json(*text, path);
    if (!profile)
      return profile.error();
    profiles.push_back(std::move(*profile));
  }
  return profiles;
}

Result<Subject> analyse_target(const Arguments &arguments, const std::vector<Profile> &profiles,
                               Catalogue catalogue, const Plan &plan,
                               const std::vector<BitcodeFile> &files, const BuildTarget &target) {
  const auto listed = [&](const std::vector<std::size_t> &units) {
    BitcodeList list;
    for (const std::size_t unit : units)
      list.push_back(&files[unit]);
    return list;
  };
  llvm::LLVMContext context;
  const Result<std::unique_ptr<llvm::Module>> module =
      link_bitcode(context, listed(target.units), listed(target.archived));
  if (!module)
    return module.error();
  PassOptions options;
  options.catalogue = arguments.catalogue;
  options.points_to = *parse_points_to(arguments.points_to);
  Subject subject;
  {
    const Progress progress("analysing", 0);
    prepare(**module, catalogue, {});
    unwrap_locks(**module, [](const llvm::Function &) { return false; });
    subject.report = analyse(**module, options, catalogue);
  }
  if (!arguments.suggest.empty()) {
    const Progress progress("trying what is suggested", 0);
    subject.conversion =
        accepted_suggestion(**module, subject.report, "", profiles, options, catalogue);
  }
  subject.name = target.name;
  add_sources(**module, subject.inputs);
  for (const CompileUnit &unit : plan.units)
    if (!unit.folder.empty())
      subject.folders.push_back(unit.folder);
  return subject;
}

// Each target's outputs need names of their own.
Status check_targets(const Arguments &arguments, const std::vector<BuildTarget> &targets) {
  if (targets.size() < 2)
    return Unit{};
  std::vector<std::string> names;
  for (const BuildTarget &target : targets)
    names.push_back(target.name);
  for (const std::string &output : outputs_of(arguments))
    if (output.find("%o") == std::string::npos)
      return Error{fmt::format("{}: would be of each of {}: write %o in the file's name, which "
                               "stands for theirs, or choose one by --target",
                               output == "-" ? "standard output" : output, fmt::join(names, ", "))};
  if (!arguments.section.empty())
    return Error{
        fmt::format("--section: of which of {}? Choose one by --target", fmt::join(names, ", "))};
  return Unit{};
}

// One subject for each target, in turn: `use` is called with each.
Status analyse_sources(const Arguments &arguments, const std::vector<Profile> &profiles,
                       const std::function<Status(const Subject &)> &use) {
  Result<Catalogue> catalogue = Catalogue::load(arguments.catalogue);
  if (!catalogue)
    return catalogue.error();
  Result<Plan> plan = plan_of(arguments);
  if (!plan)
    return plan.error();
  if (Status apart = check_targets(arguments, plan->targets); !apart)
    return apart;
  const Result<std::vector<BitcodeFile>> files = compile(plan->units);
  if (!files)
    return files.error();
  if (plan->by_main) {
    Result<std::vector<BuildTarget>> found = targets_by_main(*plan, *files, arguments.target);
    if (!found)
      return found.error();
    plan->targets = std::move(*found);
    if (Status apart = check_targets(arguments, plan->targets); !apart)
      return apart;
  }
  if (plan->targets.empty()) {
    BuildTarget all;
    all.name = std::filesystem::path(plan->units.front().source).filename().string();
    if (plan->units.size() > 1)
      all.name += fmt::format(" and {} more", plan->units.size() - 1);
    for (std::size_t unit = 0; unit < plan->units.size(); ++unit)
      all.units.push_back(unit);
    plan->targets.push_back(std::move(all));
  }
  for (const BuildTarget &target : plan->targets) {
    const Result<Subject> subject =
        analyse_target(arguments, profiles, *catalogue, *plan, *files, target);
    if (!subject)
      return plan->targets.size() == 1
                 ? subject.error()
                 : Error{fmt::format("{}: {}", target.name, subject.error().message)};
    if (Status used = use(*subject); !used)
      return used;
  }
  return Unit{};
}

Result<Subject> read_report(const std::string &file) {
  const Result<std::string> text = read_file(file);
  if (!text)
    return text.error();
  Result<Report> report = report_from_json(*text, file);
  if (!report)
    return report.error();
  const std::filesystem::path named(report->output.empty() ? file : report->output);
  return Subject{std::move(*report),
                 (report->output.empty() ? named.stem() : named.filename()).string(),
                 {},
                 {},
                 std::nullopt};
}

// Where source files are looked for: where the user says, here, where they were compiled, and in
// the folders above, because debug information leaves away what a file's folder shares with the
// compiler's.
SourceFiles sources_of(const Arguments &arguments, const Subject &subject) {
  std::vector<std::string> folders = arguments.roots;
  folders.emplace_back(".");
  for (const std::string &folder : subject.folders)
    if (std::find(folders.begin(), folders.end(), folder) == folders.end())
      folders.push_back(folder);
  std::error_code error;
  for (std::filesystem::path at = std::filesystem::current_path(error);
       !error && at.has_relative_path(); at = at.parent_path())
    folders.push_back(at.parent_path().string());
  return SourceFiles(std::move(folders));
}

Result<std::vector<JudgedFinding>> judged(const Arguments &arguments, const Report &report,
                                          SourceFiles &sources) {
  std::vector<SuppressionFile> files;
  for (const std::string &path : arguments.suppress) {
    Result<SuppressionFile> file = load_suppressions(path);
    if (!file)
      return file.error();
    files.push_back(std::move(*file));
  }
  std::vector<JudgedFinding> findings = judge(report, files, sources);
  if (arguments.baseline.empty())
    return findings;
  const Result<std::string> text = read_file(arguments.baseline);
  if (!text)
    return text.error();
  const Result<Report> baseline = report_from_json(*text, arguments.baseline);
  if (!baseline)
    return baseline.error();
  suppress_known(findings, *baseline, arguments.baseline);
  return findings;
}

Status write_outputs(const Arguments &arguments, const Subject &subject,
                     const std::vector<JudgedFinding> &findings, SourceFiles &sources,
                     const Result<std::string> &conversion) {
  Status status = Unit{};
  const auto write = [&](const std::string &path, const auto &make) {
    if (status && !path.empty())
      status = write_file(path, make());
  };
  write(arguments.json, [&] { return to_json(subject.report); });
  write(arguments.html, [&] { return to_html(subject.report, findings, sources, subject.name); });
  write(arguments.sarif, [&] { return to_sarif(findings); });
  write(arguments.svg, [&] { return to_svg(subject.report); });
  write(arguments.dot, [&] { return to_dot(subject.report); });
  if (conversion)
    write(arguments.suggest, [&] { return *conversion; });
  return status;
}

// The suggested conversion file; empty where none is asked for.
Result<std::string> suggestion(const Arguments &arguments, const Subject &subject,
                               const std::vector<Profile> &profiles) {
  if (arguments.suggest.empty())
    return std::string();
  if (subject.conversion)
    return *subject.conversion;
  const std::string &output = subject.report.output;
  return suggest_conversion(subject.report, std::filesystem::path(output).filename().string(),
                            profiles);
}

// Whether the findings are such that the user wants to know by the exit status.
bool fails(const Arguments &arguments, const std::vector<JudgedFinding> &findings) {
  if (arguments.error_rules.empty())
    return false;
  return arguments.error_rules == "all"
             ? count_open(findings) > 0
             : count_open(findings, *parse_rules(arguments.error_rules)) > 0;
}

// Prints and writes one subject's answer. The exit status.
Result<int> answer(const Arguments &arguments, const std::vector<Profile> &profiles,
                   const Subject &subject) {
  if (Status apart = check_outputs(outputs_of(arguments), subject.inputs); !apart)
    return apart.error();
  SourceFiles sources = sources_of(arguments, subject);
  const Result<std::vector<JudgedFinding>> findings = judged(arguments, subject.report, sources);
  if (!findings)
    return findings.error();
  const Terminal terminal = Terminal::of(stdout);
  View view{.sort = *parse_sort(arguments.sort),
            .all = arguments.all,
            .suppressed = arguments.show_suppressed};
  if (!arguments.kinds.empty())
    view.kinds = *parse_kinds(arguments.kinds);
  Result<std::string> text =
      arguments.section.empty()
          ? report_text(subject.report, subject.name, *findings, view, terminal)
          : section_text(subject.report, arguments.section, view, terminal);
  if (!text)
    return text.error();
  // Where nothing can be suggested all else is written first.
  const Result<std::string> conversion = suggestion(arguments, subject, profiles);
  if (Status written = write_outputs(arguments, subject, *findings, sources, conversion); !written)
    return written.error();
  const std::vector<std::string> outputs = outputs_of(arguments);
  if (std::find(outputs.begin(), outputs.end(), "-") == outputs.end())
    if (Status written = write_file("-", *text); !written)
      return written.error();
  if (!conversion)
    return conversion.error();
  if (!strict_violations(subject.report).empty())
    return kUsageStatus; // the program does not link with tandem-cc
  return fails(arguments, *findings) ? kFindingsStatus : 0;
}

// The exit status: the highest of all targets.
Result<int> run(const Arguments &arguments) {
  if (Status checked = check(arguments); !checked)
    return checked.error();
  const Result<std::vector<Profile>> profiles = read_profiles(arguments);
  if (!profiles)
    return profiles.error();
  if (!arguments.files.empty() && is_report(arguments.files.front())) {
    const Result<Subject> subject = read_report(arguments.files.front());
    return subject ? answer(arguments, *profiles, *subject) : Result<int>(subject.error());
  }
  int status = 0;
  bool first = true;
  const Status done = analyse_sources(arguments, *profiles, [&](const Subject &subject) -> Status {
    if (!std::exchange(first, false) && outputs_of(arguments).empty())
      if (Status written = write_file("-", "\n"); !written)
        return written;
    const Result<int> answered = answer(for_target(arguments, subject.name), *profiles, subject);
    if (!answered)
      return answered.error();
    status = std::max(status, *answered);
    return Unit{};
  });
  return done ? Result<int>(status) : Result<int>(done.error());
}

} // namespace
} // namespace tandem

int main(int argc, char **argv) {
  tandem::Arguments arguments;
  tandem::Program program("analyze", "what the atomic sections of a program share, and why");
  tandem::declare(program, arguments);
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  arguments.flags = program.rest();
  const tandem::Result<int> status = tandem::run(arguments);
  return status ? *status : program.fail(status.error());
}
