// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/arguments.h"

#include "base/file.h"
#include "cli/analyze/compile.h"
#include "cli/analyze/view.h"
#include "cli/findings/suppress.h"
#include "compiler/options/options.h"

#include <algorithm>
#include <array>
#include <filesystem>

namespace tandem {
namespace {

constexpr const char *kAllRules = "all";

void declare_input(CLI::App &app, Arguments &arguments) {
  app.add_option("SOURCES", arguments.files,
                 "C and C++ files, analysed as one program (the whole of it, where one of them "
                 "defines main), compiled with FLAGS; or one report "
                 "that tandem-cc -ftandem-report=FILE wrote")
      ->type_name("FILE");
  app.add_option(
         "-p,--compile-commands", arguments.database,
         "compile as this compile_commands.json (or the one in this folder) says: each program "
         "and library that the build links, or the SOURCES as one; FLAGS come after its own")
      ->type_name("FILE");
  app.add_option("--target", arguments.target,
                 "with -p: only this program or library; else there is one answer for each, and %o "
                 "in the names of files to write is its name")
      ->type_name("NAME");
  app.add_option("--points-to", arguments.points_to,
                 "points-to analysis: sensitive or insensitive (the default) to the calling "
                 "context")
      ->type_name("MODE")
      ->check(checked_by(parse_points_to));
  app.add_option("--catalogue", arguments.catalogue,
                 "what external functions do; 'papers': all of them are irrevocable")
      ->type_name("FILE");
}

void declare_output(Program &program, Arguments &arguments) {
  CLI::App &app = program.app();
  program.add_json(arguments.json, "write the report as JSON instead of, or beside, the tables");
  const auto file = [&](const char *name, std::string &path, const char *what) {
    app.add_option(name, path, what)->type_name("FILE");
  };
  file("--html", arguments.html,
       "write the report as one HTML page: the conflict graph, every section with its sources");
  file("--sarif", arguments.sarif, "write the findings as SARIF 2.1.0");
  file("--svg", arguments.svg, "write the conflict graph as a picture");
  file("--dot", arguments.dot, "write the conflict graph for graphviz");
  file("--suggest", arguments.suggest,
       "write a first file for tandem-cc -ftandem-convert=: which locks may become sections, which "
       "must stay real, and why");
  app.add_option("--profile", arguments.profiles,
                 "with --suggest: what TANDEM_LOCK_PROFILE or TANDEM_PROFILE wrote of a run; locks "
                 "that never wait, and sections that do not pay, stay locks; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
}

void declare_findings(Program &program, Arguments &arguments) {
  CLI::App &app = program.app();
  app.add_option("--suppress", arguments.suppress,
                 "do not show the findings that this file allows; may be given again")
      ->type_name("FILE")
      ->allow_extra_args(false);
  app.add_option("--baseline", arguments.baseline,
                 "do not show the findings that this earlier report (--json) has, wherever their "
                 "lines are now")
      ->type_name("REPORT.json");
  program.add_flag("--show-suppressed", arguments.show_suppressed,
                   "show the findings that are suppressed, too, and why");
  app.add_flag(std::string("--error-on-findings{") + kAllRules + "}", arguments.error_rules,
               "exit with status 1 if there is a finding that is not suppressed; with =RULE,... "
               "only for these rules")
      ->type_name("");
  app.add_option("--root", arguments.roots,
                 "where relative names of source files begin, if not here; may be given again")
      ->type_name("FOLDER")
      ->allow_extra_args(false);
}

void declare_view(Program &program, Arguments &arguments) {
  CLI::App &app = program.app();
  app.add_option("--kind", arguments.kinds,
                 "show only these: function, block, lambda, lock-region; separated by commas")
      ->type_name("KINDS")
      ->check(checked_by(parse_kinds));
  app.add_option("--sort", arguments.sort,
                 "order of the tables: place (the default), name, class, lock or size")
      ->type_name("ORDER")
      ->check(checked_by(parse_sort));
  app.add_option("--section", arguments.section,
                 "show everything about one section: locations, call chains, conflicts")
      ->type_name("NAME");
  program.add_flag("--all", arguments.all, "cut no list, and name shared locations and externals");
}

Status check_files(const Arguments &arguments) {
  if (arguments.files.empty() && arguments.database.empty())
    return Error{"nothing to analyse: name C or C++ files, or a report; see tandem analyze --help"};
  for (const std::string &file : arguments.files)
    if (is_report(file)) {
      if (!arguments.database.empty())
        return Error{fmt::format("{}: a report is not compiled: leave -p away", file)};
      if (arguments.files.size() > 1)
        return Error{fmt::format("{}: a report is analysed alone", file)};
      if (!arguments.flags.empty())
        return Error{fmt::format("{}: a report takes no flags after '--'", file)};
    } else if (const Result<std::string> compiler = compiler_of(file); !compiler) {
      return compiler.error();
    }
  return Unit{};
}

} // namespace

void declare(Program &program, Arguments &arguments) {
  program.add_usage("[OPTIONS] SOURCES... [-- FLAGS...]");
  program.add_usage("[OPTIONS] -p compile_commands.json [SOURCES...] [-- FLAGS...]");
  program.add_usage("[OPTIONS] REPORT.json");
  program.keep_rest();
  declare_input(program.app(), arguments);
  declare_output(program, arguments);
  declare_findings(program, arguments);
  declare_view(program, arguments);
  program.set_epilogue("Examples:\n"
                       "  tandem analyze queue.c main.c -- -Iinclude -DNDEBUG\n"
                       "  tandem analyze -p build --html %o.html --error-on-findings\n"
                       "  tandem analyze -p build --target server --sarif server.sarif\n"
                       "  tandem analyze --sort lock --all memcached.json");
}

namespace {

constexpr std::array kOutputs{&Arguments::json, &Arguments::html, &Arguments::sarif,
                              &Arguments::svg,  &Arguments::dot,  &Arguments::suggest};

} // namespace

std::vector<std::string> outputs_of(const Arguments &arguments) {
  std::vector<std::string> outputs;
  for (std::string Arguments::*output : kOutputs)
    if (!(arguments.*output).empty())
      outputs.push_back(arguments.*output);
  return outputs;
}

Arguments for_target(Arguments arguments, const std::string &target) {
  if (arguments.database.empty())
    return arguments;
  std::string name = target;
  std::replace(name.begin(), name.end(), '/', '-');
  for (std::string Arguments::*output : kOutputs) {
    std::string &path = arguments.*output;
    for (std::size_t at = path.find("%o"); at != std::string::npos;
         at = path.find("%o", at + name.size()))
      path.replace(at, 2, name);
  }
  return arguments;
}

std::vector<std::string> inputs_of(const Arguments &arguments) {
  std::vector<std::string> inputs = arguments.files;
  inputs.insert(inputs.end(), arguments.suppress.begin(), arguments.suppress.end());
  const std::filesystem::path database(arguments.database);
  inputs.insert(inputs.end(), {arguments.database, (database / "compile_commands.json").string(),
                               arguments.catalogue, arguments.baseline});
  inputs.insert(inputs.end(), arguments.profiles.begin(), arguments.profiles.end());
  return inputs;
}

Status check(const Arguments &arguments) {
  if (Status files = check_files(arguments); !files)
    return files;
  if (!arguments.error_rules.empty() && arguments.error_rules != kAllRules)
    if (const auto rules = parse_rules(arguments.error_rules); !rules)
      return Error{"--error-on-findings: " + rules.error().message};
  if (!arguments.target.empty() && arguments.database.empty())
    return Error{"--target: is for -p; add it"};
  if (!arguments.target.empty() && !arguments.files.empty())
    return Error{"--target: says which sources there are: leave SOURCES away"};
  if (!arguments.profiles.empty() && arguments.suggest.empty())
    return Error{"--profile: is for --suggest; add it"};
  return check_outputs(outputs_of(arguments), inputs_of(arguments));
}

} // namespace tandem
