// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem rewrite`: the program with its sections written out, for stock gcc.
#include "base/file.h"
#include "base/printable.h"
#include "cli/analyze/compile.h"
#include "cli/analyze/link.h"
#include "cli/common/installation.h"
#include "cli/common/process.h"
#include "cli/common/program.h"
#include "cli/common/progress.h"
#include "compiler/driver/toolchain.h"
#include "compiler/pass/analyse.h"
#include "compiler/rewrite/rewrite.h"

#include "llvm/IR/LLVMContext.h"

#include <cstdlib>
#include <filesystem>
#include <set>

namespace tandem {
namespace {

struct Arguments {
  std::vector<std::string> files;
  std::vector<std::string> flags; // of the compiler
  std::string mode = "hybrid";
  std::string catalogue;
  std::string points_to = "insensitive";
  std::string output_folder;
  std::string json;
};

void declare(Program &program, Arguments &arguments) {
  CLI::App &app = program.app();
  program.add_usage("[OPTIONS] SOURCES... [-- FLAGS...]");
  program.keep_rest();
  app.add_option("SOURCES", arguments.files,
                 "C files, rewritten as one program (the whole of it, where one of them defines "
                 "main); FLAGS are those that they are compiled with")
      ->type_name("FILE");
  app.add_option("--mode", arguments.mode,
                 "locks: a mutex for each colour; hybrid (the default): transactions, and locks "
                 "where something cannot be undone; stm: transactions only")
      ->type_name("MODE")
      ->check(checked_by(rewrite::parse_mode));
  app.add_option("--output-dir", arguments.output_folder,
                 "write each source as a file of its name into this folder, not to standard output")
      ->type_name("FOLDER");
  app.add_option("--points-to", arguments.points_to,
                 "points-to analysis: sensitive or insensitive (the default) to the calling "
                 "context")
      ->type_name("MODE")
      ->check(checked_by(parse_points_to));
  app.add_option("--catalogue", arguments.catalogue,
                 "what external functions do; 'papers': all of them are irrevocable")
      ->type_name("FILE");
  program.add_json(arguments.json, "write what became of each section as JSON");
  program.set_epilogue(
      "Examples:\n"
      "  tandem rewrite bank.c > bank-gcc.c && gcc -fgnu-tm -pthread bank-gcc.c\n"
      "  mkdir -p out && tandem rewrite --mode locks --output-dir out queue.c main.c -- -Iinclude");
}

// Where each source goes with --output-dir. Error: two of them have one name, or one would replace
// its own source.
Result<std::vector<std::string>> outputs_of(const Arguments &arguments) {
  namespace fs = std::filesystem;
  std::vector<std::string> outputs;
  std::set<std::string> seen;
  for (const std::string &file : arguments.files) {
    const std::string path =
        (fs::path(arguments.output_folder) / fs::path(file).filename()).string();
    if (!seen.insert(path).second)
      return Error{fmt::format("{}: two sources would be written to it: rewrite them apart", path)};
    std::error_code error;
    if (fs::equivalent(path, file, error))
      return Error{
          fmt::format("{}: --output-dir would replace the source: choose another folder", path)};
    outputs.push_back(path);
  }
  return outputs;
}

Status check(const Arguments &arguments) {
  if (arguments.files.empty())
    return Error{"nothing to rewrite: name C files; see tandem rewrite --help"};
  std::set<std::filesystem::path> seen;
  for (const std::string &file : arguments.files) {
    if (is_report(file))
      return Error{fmt::format("{}: a report cannot be rewritten: name its C files", file)};
    const Result<std::string> compiler = compiler_of(file);
    if (!compiler)
      return compiler.error();
    if (*compiler != "tandem-cc")
      return Error{fmt::format("{}: C++ is not rewritten: gcc gets C sources only", file)};
    std::error_code error;
    if (!seen.insert(std::filesystem::weakly_canonical(file, error)).second)
      return Error{fmt::format("{}: is named twice", file)};
  }
  if (arguments.json == "-" && arguments.output_folder.empty())
    return Error{"--json: standard output is where the sources go: name a file, or --output-dir"};
  return Unit{};
}

Result<Report> analyse_sources(const Arguments &arguments, const Catalogue &catalogue) {
  std::vector<CompileUnit> units;
  for (const std::string &file : arguments.files)
    units.push_back({file, false, "", arguments.flags});
  EndSignals signals; // takes effect after the folder is gone
  Result<PrivateFolder> folder = PrivateFolder::make();
  if (!folder)
    return folder.error();
  const Result<std::vector<std::string>> bitcode = compile_units(units, *folder, signals);
  if (!bitcode)
    return bitcode.error();
  const Result<std::vector<BitcodeFile>> files = read_bitcode_files(*bitcode, arguments.files);
  if (!files)
    return files.error();
  BitcodeList all;
  for (const BitcodeFile &file : *files)
    all.push_back(&file);
  llvm::LLVMContext context;
  const Result<std::unique_ptr<llvm::Module>> module = link_bitcode(context, all);
  if (!module)
    return module.error();
  PassOptions options;
  options.catalogue = arguments.catalogue;
  options.points_to = *parse_points_to(arguments.points_to);
  const Progress progress("analysing", 0);
  return analyse(**module, options, catalogue);
}

Result<rewrite::RewriteRequest> request_of(const Arguments &arguments) {
  const auto value_of = [](const char *name) {
    const char *value = std::getenv(name);
    return std::string(value == nullptr ? "" : value);
  };
  const Toolchain toolchain(value_of("TANDEM_LLVM_BIN"), value_of("PATH"), real_files());
  const Result<std::string> clang = toolchain.find("clang");
  if (!clang)
    return clang.error();
  rewrite::RewriteRequest request;
  request.mode = *rewrite::parse_mode(arguments.mode);
  for (const std::string &file : arguments.files)
    request.sources.push_back({.path = file,
                               .number = static_cast<unsigned>(request.sources.size()),
                               .flags = arguments.flags,
                               .clang = *clang,
                               .headers = installation_prefix() + "/include"});
  return request;
}

// What the user should know, as compilers say it, on standard error.
void print_notes(const rewrite::Rewriting &rewriting) {
  if (rewriting.sections.empty())
    fmt::print(stderr,
               "note: nothing to rewrite: the sources mark no atomic section, and go out as "
               "they are; lock regions keep their locks\n");
  for (const rewrite::RewrittenSection &section : rewriting.sections)
    if (section.refusal) {
      std::string chain;
      for (const std::string &function : section.refusal->chain)
        chain += (chain.empty() ? "" : " -> ") + function;
      fmt::print(stderr, "{}:{}: note: section '{}' becomes non-revocable: {} ({}, {})\n",
                 printable(section.file), section.line, printable(section.name),
                 printable(section.refusal->reason()), printable(chain),
                 printable(section.refusal->place));
    }
  for (const auto &[section, region] : rewriting.unordered)
    fmt::print(stderr,
               "warning: section '{}' and lock region '{}' share memory and do not exclude each "
               "other: mark the region's function, or leave its lock away\n",
               printable(section), printable(region));
  if (!rewriting.outside.empty())
    fmt::print(stderr,
               "warning: {} of the sections, '{}' first, share memory with code outside of these "
               "sources: nothing keeps them apart from sections there; name all sources\n",
               rewriting.outside.size(), printable(rewriting.outside.front()));
}

Status write_outputs(const Arguments &arguments, const rewrite::Rewriting &rewriting,
                     const std::vector<std::string> &outputs) {
  if (!arguments.json.empty())
    if (Status written = write_file(arguments.json, to_json(rewriting, arguments.files)); !written)
      return written;
  std::string all;
  for (std::size_t i = 0; i < rewriting.texts.size(); ++i) {
    if (arguments.output_folder.empty()) {
      if (arguments.files.size() > 1)
        all += fmt::format("{}/* {} */\n", i == 0 ? "" : "\n", arguments.files[i]);
      all += rewriting.texts[i];
    } else if (Status written = write_file(outputs[i], rewriting.texts[i]); !written) {
      return written;
    }
  }
  return arguments.output_folder.empty() ? write_file("-", all) : Status(Unit{});
}

Status run(const Arguments &arguments) {
  if (Status checked = check(arguments); !checked)
    return checked;
  std::vector<std::string> outputs;
  if (!arguments.output_folder.empty()) {
    Result<std::vector<std::string>> found = outputs_of(arguments);
    if (!found)
      return found.error();
    outputs = std::move(*found);
  }
  std::vector<std::string> all = outputs;
  all.push_back(arguments.json);
  std::vector<std::string> inputs = arguments.files;
  inputs.push_back(arguments.catalogue);
  if (Status apart = check_outputs(all, inputs); !apart)
    return apart;
  const Result<Catalogue> catalogue = Catalogue::load(arguments.catalogue);
  if (!catalogue)
    return catalogue.error();
  const Result<rewrite::RewriteRequest> request = request_of(arguments);
  if (!request)
    return request.error();
  const Result<Report> report = analyse_sources(arguments, *catalogue);
  if (!report)
    return report.error();
  const Result<rewrite::Rewriting> rewriting = rewrite::rewrite(*request, *report, *catalogue);
  if (!rewriting)
    return rewriting.error();
  print_notes(*rewriting);
  return write_outputs(arguments, *rewriting, outputs);
}

} // namespace
} // namespace tandem

int main(int argc, char **argv) {
  tandem::Arguments arguments;
  tandem::Program program("rewrite", "the sections of C sources written out, for stock gcc");
  tandem::declare(program, arguments);
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  arguments.flags = program.rest();
  const tandem::Status status = tandem::run(arguments);
  return status ? 0 : program.fail(status.error());
}
