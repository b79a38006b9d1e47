// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "compiler/driver/plan.h"

#include "base/file.h"
#include "base/version.h"
#include "compiler/catalogue/catalogue.h"
#include "compiler/convert/file.h"
#include "compiler/driver/link.h"
#include "compiler/report/report.h"

#include <algorithm>

namespace tandem {
namespace {

std::string value_of(const Environment &environment, const char *name) {
  const auto found = environment.find(name);
  return found == environment.end() ? "" : found->second;
}

Toolchain toolchain_of(const Request &request) {
  return {value_of(request.environment, "TANDEM_LLVM_BIN"), value_of(request.environment, "PATH"),
          request.files};
}

// Whether objects of this step are bitcode.
bool makes_bitcode(const CommandLine &line) {
  return (line.stop == Stop::object || line.stop == Stop::link) && line.lto != Lto::off &&
         !line.emits_ir;
}

Status refuse_thin(const CommandLine &line) {
  if (line.lto != Lto::thin)
    return Unit{};
  return Error{"-flto=thin: thin LTO never shows the linker the whole program; use full LTO "
               "(-flto=full), or drop the option"};
}

// Adds what every compile step of C or C++ gets.
void add_compile_options(const Request &request, const CommandLine &line, const Settings &settings,
                         std::vector<std::string> &options, std::vector<Check> &checks) {
  if (line.has_c_family()) {
    options.emplace_back("-D__TANDEM__=1");
    if (!line.no_standard_includes) {
      options.emplace_back("-idirafter");
      options.push_back(request.installation.headers);
    }
    if (line.gnu_tm) {
      options.emplace_back("-include");
      options.push_back(request.installation.headers + "/tandem/gnu_tm.h");
    }
    if (line.stop != Stop::preprocess) {
      const std::string plugin = request.installation.attribute_plugin();
      options.push_back("-fplugin=" + plugin);
      checks.push_back({Check::Kind::present, plugin, "the installation is incomplete: reinstall"});
    }
  }
  if (!makes_bitcode(line) || !(line.has_c_family() || line.has(InputKind::ir)))
    return;
  options.emplace_back("-flto=full");
  // Optimised code does not have any more what the link looks for: the source's calls, and the
  // variables that locks are known by. Where passes must run, they run without optimising, and the
  // link optimises.
  const bool only_instruments = line.optimises && line.instruments && settings.analyses();
  if (line.optimises && !settings.analyses() && line.has_c_family())
    options.emplace_back("-D__TANDEM_OPTIMISED__=1"); // marks then say so (compiler/attribute)
  if (!settings.analyses())
    return;
  if (!line.chooses_debug)
    options.emplace_back("-g"); // names of variables and lines for the report
  // What Debian 12's valgrind reads of clang's; a -gdwarf-5 of the user's stands.
  options.emplace_back("-fdebug-default-version=4");
  if (line.optimises && !line.instruments) {
    options.emplace_back("-Xclang"); // the pass sees what the source says, and optimises later
    options.emplace_back("-disable-llvm-passes");
  }
  if (only_instruments)
    options.insert(options.end(), {"-Xclang", "-O0", "-Xclang", "-disable-O0-optnone"});
}

// The file that the step leaves behind, as far as the command line says it. Empty: none, or more
// than one.
std::string output_of(const CommandLine &line) {
  if (line.stop == Stop::syntax)
    return "";
  if (!line.output.empty())
    return line.output == "-" ? "" : line.output;
  return line.links() ? "a.out" : "";
}

Status add_checks(const CommandLine &line, const Settings &settings, std::vector<Check> &checks) {
  const Enforcement enforcement = settings.enforcement;
  if (line.looks_for_races && enforcement != Enforcement::none &&
      enforcement != Enforcement::global_lock && enforcement != Enforcement::locks &&
      (makes_bitcode(line) || line.links()))
    return Error{fmt::format("-fsanitize=thread: ThreadSanitizer does not see what orders sections "
                             "under {}; compile and link with -ftandem-enforce=locks",
                             to_string(enforcement))};
  if (const std::string output = output_of(line); !output.empty())
    checks.push_back({Check::Kind::writable, output, "choose another -o"});
  if (!settings.analyses() || !(makes_bitcode(line) || line.links()))
    return Unit{};
  if (!settings.catalogue.empty() && !is_builtin_catalogue(settings.catalogue))
    checks.push_back({Check::Kind::catalogue, settings.catalogue, ""});
  if (!settings.convert.empty())
    checks.push_back({Check::Kind::conversion, settings.convert, ""});
  if (settings.report.empty())
    return Unit{};
  const Result<std::string> path =
      report_path(settings.report, line.output.empty() ? "a.out" : line.output);
  if (!path)
    return Error{fmt::format("-ftandem-report: {}", path.error().message)};
  // A compile step knows neither the name of the output nor the folder of its link.
  if (line.links() || (settings.report[0] == '/' && settings.report.find('%') > path->rfind('/')))
    checks.push_back({Check::Kind::writable, *path, "choose another -ftandem-report"});
  return Unit{};
}

Result<Plan> plan_compiler(const Request &request) {
  CommandLine line = parse_command_line(request.words);
  const Result<Settings> settings = read_settings(line.own_options, request.environment);
  if (!settings)
    return settings.error();
  const Toolchain toolchain = toolchain_of(request);
  const Result<std::string> clang = toolchain.find(request.tool == Tool::cxx ? "clang++" : "clang");
  if (!clang)
    return clang.error();
  Plan plan;
  plan.program = *clang;
  plan.arguments = line.words;
  if (line.help)
    plan.prologue = settings_help();
  else if (line.version)
    plan.epilogue = fmt::format("{} {}\n", to_string(request.tool), version_text());
  if (line.help || line.version || line.cc1 || (line.inputs.empty() && !line.links()))
    return plan;

  if (Status thin = refuse_thin(line); !thin)
    return thin.error();
  LinkStep link;
  if (line.links()) {
    Result<LinkStep> planned = plan_link(request, line, *settings, toolchain);
    if (!planned)
      return planned.error();
    link = std::move(*planned);
  }
  std::vector<std::string> options;
  add_compile_options(request, line, *settings, options, plan.checks);
  options.insert(options.end(), link.options.begin(), link.options.end());
  plan.set = std::move(link.set);
  plan.checks.insert(plan.checks.end(), link.checks.begin(), link.checks.end());
  if (Status added = add_checks(line, *settings, plan.checks); !added)
    return added.error();
  if (line.links() && !line.relocatable && !line.dry_run && settings->verbose &&
      !settings->analyses()) // else the pass says it
    plan.note = fmt::format("{}: note: {}: atomic sections are neither enforced nor counted under "
                            "none; -ftandem-report=FILE counts them",
                            to_string(request.tool), line.output.empty() ? "a.out" : line.output);
  if (line.dry_run)
    plan.checks.clear();
  for (const Input &input : line.inputs)
    plan.inputs.push_back(input.path);
  plan.inputs.insert(plan.inputs.end(), {settings->catalogue, settings->convert});

  if (!options.empty()) {
    // Ours come first, so that the user's win; a step that has no use for one must not warn.
    options.emplace(options.begin(), "--start-no-unused-arguments");
    options.emplace_back("--end-no-unused-arguments");
  }
  // Before "--", after which everything is an input.
  auto end = plan.arguments.begin() + static_cast<std::ptrdiff_t>(line.options_end);
  if (line.fat_objects && makes_bitcode(line))
    end = plan.arguments.insert(end, "-fno-fat-lto-objects") + 1;
  plan.arguments.insert(end, link.libraries.begin(), link.libraries.end());
  plan.arguments.insert(plan.arguments.begin(), options.begin(), options.end());
  return plan;
}

} // namespace

Tool tool_of(std::string_view program) {
  const std::size_t slash = program.rfind('/');
  if (slash != std::string_view::npos)
    program.remove_prefix(slash + 1);
  for (const std::string_view prefix : {"tandem-", "llvm-"}) // CMake's names, as tandem-llvm-ar
    if (program.starts_with(prefix))
      program.remove_prefix(prefix.size());
  if (program == "ar")
    return Tool::ar;
  if (program == "ranlib")
    return Tool::ranlib;
  if (program == "nm")
    return Tool::nm;
  return program.ends_with("++") ? Tool::cxx : Tool::cc;
}

std::string_view to_string(Tool tool) {
  switch (tool) {
  case Tool::cc:
    return "tandem-cc";
  case Tool::cxx:
    return "tandem-c++";
  case Tool::ar:
    return "tandem-ar";
  case Tool::ranlib:
    return "tandem-ranlib";
  case Tool::nm:
    return "tandem-nm";
  }
  CHECK(false, "tool {}", static_cast<int>(tool));
}

Result<Plan> make_plan(const Request &request) {
  if (request.tool == Tool::cc || request.tool == Tool::cxx)
    return plan_compiler(request);
  const std::string name = "llvm-" + std::string(to_string(request.tool).substr(7));
  const Result<std::string> program = toolchain_of(request).find(name);
  if (!program)
    return program.error();
  Plan plan;
  plan.program = *program;
  plan.arguments = request.words;
  return plan;
}

Status run_checks(const Plan &plan) {
  std::vector<std::string> outputs;
  for (const Check &check : plan.checks) {
    switch (check.kind) {
    case Check::Kind::writable:
      if (Status writable = check_outputs({check.path}, plan.inputs); !writable)
        return Error{fmt::format("{}; {}", writable.error().message, check.remedy)};
      outputs.push_back(check.path);
      break;
    case Check::Kind::catalogue:
      if (Result<Catalogue> catalogue = Catalogue::load(check.path); !catalogue)
        return catalogue.error();
      break;
    case Check::Kind::conversion:
      if (Result<ConversionFile> file = read_conversion(check.path); !file)
        return file.error();
      break;
    case Check::Kind::present:
      if (!real_files().exists(check.path))
        return Error{fmt::format("{}: not found; {}", check.path, check.remedy)};
      break;
    }
  }
  return check_outputs(outputs, {});
}

} // namespace tandem
