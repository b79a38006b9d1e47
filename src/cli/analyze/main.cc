// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem analyze`: prints a report, or makes one from sources first.
#include "base/file.h"
#include "cli/analyze/compile.h"
#include "cli/analyze/link.h"
#include "cli/analyze/tables.h"
#include "cli/common/program.h"
#include "cli/common/progress.h"
#include "compiler/pass/analyse.h"

#include "llvm/IR/LLVMContext.h"

namespace tandem {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> flags;
  std::string json;
  std::string points_to = "insensitive";
  std::string catalogue;
  std::string kinds;
  std::string sort = "place";
  std::string section;
  bool all = false;
};

void declare(Program &program, Arguments &arguments) {
  CLI::App &app = program.app();
  program.add_usage("[OPTIONS] SOURCES... [-- FLAGS...]");
  program.add_usage("[OPTIONS] REPORT.json");
  program.keep_rest();
  app.add_option("SOURCES", arguments.files,
                 "C and C++ files, analysed as one program (the whole of it, where one of them "
                 "defines main), compiled with FLAGS; or one report "
                 "that tandem-cc -ftandem-report=FILE wrote")
      ->type_name("FILE");
  app.add_option("--points-to", arguments.points_to,
                 "points-to analysis: sensitive or insensitive (the default) to the calling "
                 "context")
      ->type_name("MODE")
      ->check(checked_by(parse_points_to));
  app.add_option("--catalogue", arguments.catalogue,
                 "what external functions do; 'papers': all of them are irrevocable")
      ->type_name("FILE");
  program.add_json(arguments.json, "write the report as JSON instead of, or beside, the tables");
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
  program.set_epilogue("Examples:\n"
                       "  tandem analyze queue.c main.c -- -Iinclude -DNDEBUG\n"
                       "  tandem analyze --sort lock --all memcached.json");
}

Result<std::unique_ptr<llvm::Module>> compile_and_link(llvm::LLVMContext &context,
                                                       const Arguments &arguments) {
  EndSignals signals; // takes effect after the folder is gone
  Result<PrivateFolder> folder = PrivateFolder::make();
  if (!folder)
    return folder.error();
  const Result<std::vector<std::string>> bitcode =
      compile_sources(arguments.files, arguments.flags, *folder, signals);
  if (!bitcode)
    return bitcode.error();
  return link_bitcode(context, *bitcode, arguments.files);
}

Result<Report> analyse_sources(const Arguments &arguments) {
  const Result<Catalogue> catalogue = Catalogue::load(arguments.catalogue);
  if (!catalogue)
    return catalogue.error();
  llvm::LLVMContext context;
  const Result<std::unique_ptr<llvm::Module>> module = compile_and_link(context, arguments);
  if (!module)
    return module.error();
  PassOptions options;
  options.catalogue = arguments.catalogue;
  options.points_to = *parse_points_to(arguments.points_to);
  const Progress progress("analysing", 0);
  return analyse(**module, options, *catalogue);
}

Result<Report> obtain(const Arguments &arguments) {
  if (!is_report(arguments.files.front()))
    return analyse_sources(arguments);
  const std::string &file = arguments.files.front();
  const Result<std::string> text = read_file(file);
  if (!text)
    return text.error();
  return report_from_json(*text, file);
}

// Mistakes that show before any work.
Status check(const Arguments &arguments) {
  if (arguments.files.empty())
    return Error{"nothing to analyse: name C or C++ files, or a report; see tandem analyze --help"};
  for (const std::string &file : arguments.files)
    if (is_report(file)) {
      if (arguments.files.size() > 1)
        return Error{fmt::format("{}: a report is analysed alone", file)};
      if (!arguments.flags.empty())
        return Error{fmt::format("{}: a report takes no flags after '--'", file)};
    } else if (const Result<std::string> compiler = compiler_of(file); !compiler) {
      return compiler.error();
    }
  return arguments.json.empty() ? Status(Unit{}) : check_writable(arguments.json);
}

Status run(const Arguments &arguments) {
  if (Status checked = check(arguments); !checked)
    return checked;
  const Result<Report> report = obtain(arguments);
  if (!report)
    return report.error();
  const Terminal terminal = Terminal::of(stdout);
  View view{.sort = *parse_sort(arguments.sort), .all = arguments.all};
  if (!arguments.kinds.empty())
    view.kinds = *parse_kinds(arguments.kinds);
  Result<std::string> text = arguments.section.empty()
                                 ? report_text(*report, view, terminal)
                                 : section_text(*report, arguments.section, view, terminal);
  if (!text)
    return text.error();
  if (!arguments.json.empty())
    if (Status written = write_file(arguments.json, to_json(*report)); !written)
      return written;
  return arguments.json == "-" ? Status(Unit{}) : write_file("-", *text);
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
  const tandem::Status status = tandem::run(arguments);
  return status ? 0 : program.fail(status.error());
}
