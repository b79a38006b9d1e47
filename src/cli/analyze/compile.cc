// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/analyze/compile.h"

#include "base/file.h"
#include "cli/common/installation.h"
#include "cli/common/progress.h"
#include "cli/common/terminal.h"
#include "compiler/options/options.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <sched.h>
#include <unistd.h>

namespace tandem {
namespace {

constexpr std::array<std::string_view, 2> kCSuffixes = {".c", ".i"};
constexpr std::array<std::string_view, 8> kCxxSuffixes = {".cc", ".cpp", ".cxx", ".c++",
                                                          ".cp", ".C",   ".CPP", ".ii"};

template <typename Suffixes> bool has_suffix(std::string_view file, const Suffixes &suffixes) {
  const std::string_view name = file.substr(file.rfind('/') + 1);
  return std::any_of(suffixes.begin(), suffixes.end(), [&](std::string_view suffix) {
    return name.size() > suffix.size() && name.ends_with(suffix);
  });
}

// Processors that this process may use.
std::size_t processors() {
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) != 0)
    return 1;
  return static_cast<std::size_t>(std::max(CPU_COUNT(&set), 1));
}

// `path` as seen from `folder`, where that is not where we are.
std::string absolute(const std::string &path, const std::string &folder) {
  return folder.empty() ? path : (std::filesystem::path(folder) / path).lexically_normal().string();
}

bool runs_here(const CompileUnit &unit) {
  std::error_code error;
  return unit.folder.empty() || std::filesystem::equivalent(unit.folder, ".", error);
}

// Folders of headers as absolute paths: debug information names files as they were found, and what
// it names is looked for from where we are.
void make_absolute(std::vector<std::string> &flags, const std::string &folder) {
  for (std::size_t index = 0; index < flags.size(); ++index)
    for (const std::string_view option : {"-iquote", "-isystem", "-idirafter", "-I"})
      if (flags[index] == option && index + 1 < flags.size()) {
        flags[index + 1] = absolute(flags[index + 1], folder);
        break;
      } else if (flags[index].starts_with(option) && flags[index].size() > option.size()) {
        flags[index] = std::string(option) + absolute(flags[index].substr(option.size()), folder);
        break;
      }
}

Command command_for(const CompileUnit &unit, const std::string &bitcode, bool colour) {
  Command command;
  // -O1 keeps clang from marking every function optnone; the driver keeps the passes themselves
  // off, because a report is asked for. No report is written: that is for links.
  command.words = {programs_folder() + "/" + (unit.cxx ? "tandem-c++" : "tandem-cc"), "-O1"};
  if (colour)
    command.words.emplace_back("-fcolor-diagnostics");
  std::vector<std::string> flags = unit.flags;
  std::string source = unit.source;
  if (!unit.folder.empty()) {
    // Written for another compiler, perhaps one with other warnings and options.
    for (const char *flag :
         {"-Wno-error", "-Wno-unknown-warning-option", "-Wno-ignored-optimization-argument"})
      flags.emplace_back(flag);
    if (!runs_here(unit)) {
      make_absolute(flags, unit.folder);
      source = absolute(source, unit.folder);
      flags.push_back("-fdebug-compilation-dir=" + std::filesystem::current_path().string());
      command.folder = unit.folder;
    }
  }
  command.words.insert(command.words.end(), flags.begin(), flags.end());
  // Ours come last and win.
  for (const std::string &word :
       {std::string("-ftandem-enforce=none"), "-ftandem-report=" + bitcode + ".json",
        std::string("-flto=full"), std::string("-c"), std::string("-o"), bitcode})
    command.words.push_back(word);
  // A file's name may begin with a dash.
  command.words.push_back(source.starts_with("-") ? "./" + source : source);
  command.unset = {kEnvEnforce, kEnvReport, kEnvCatalogue, kEnvPointsTo};
  command.output = bitcode + ".log";
  return command;
}

// What the compiler said, to standard error.
void pass_on(const Command &command) {
  const Result<std::string> log = read_file(command.output);
  if (log)
    std::fwrite(log->data(), 1, log->size(), stderr);
}

// What may be wrong with a unit that does not compile: `__transaction_atomic` and the like are
// keywords where -fgnu-tm says so, as for gcc.
std::string advice_on(const CompileUnit &unit) {
  constexpr std::string_view kFlag = "-fgnu-tm";
  if (std::ranges::find(unit.flags, kFlag) != unit.flags.end())
    return "";
  const auto text = read_file(absolute(unit.source, unit.folder));
  const bool has_blocks = text && (text->find("__transaction_atomic") != std::string::npos ||
                                   text->find("__transaction_relaxed") != std::string::npos);
  return has_blocks ? fmt::format("; its transactions need `-- {}`", kFlag) : "";
}

} // namespace

bool is_report(const std::string &file) { return file.ends_with(".json"); }

Result<std::string> compiler_of(const std::string &source) {
  if (has_suffix(source, kCSuffixes))
    return std::string("tandem-cc");
  if (has_suffix(source, kCxxSuffixes))
    return std::string("tandem-c++");
  return Error{
      fmt::format("{}: neither C (.c) nor C++ (.cc, .cpp, .cxx, .C) nor a report (.json)", source)};
}

Result<std::vector<std::string>> compile_units(const std::vector<CompileUnit> &units,
                                               const PrivateFolder &folder, EndSignals &signals) {
  std::vector<std::string> bitcode;
  std::vector<Command> commands;
  for (const CompileUnit &unit : units) {
    if (std::error_code error;
        !unit.folder.empty() && !std::filesystem::is_directory(unit.folder, error))
      return Error{fmt::format("{}: no such folder: the compilation database says that {} is "
                               "compiled there",
                               unit.folder, unit.source)};
    const std::string source = absolute(unit.source, unit.folder);
    if (::access(source.c_str(), R_OK) != 0)
      return read_file(source).error();
    bitcode.push_back(
        fmt::format("{}/{}.bc", std::filesystem::absolute(folder.path()).string(), bitcode.size()));
    commands.push_back(command_for(unit, bitcode.back(), Terminal::of(stderr).colour));
  }
  Progress progress("compiling", units.size());
  const auto statuses =
      run_all(commands, processors(), signals, [&progress] { progress.advance(); });
  progress.clear();
  if (!statuses)
    return statuses.error();
  for (std::size_t index = 0; index < units.size(); ++index) {
    const std::optional<int> &status = (*statuses)[index];
    if (!status)
      return Error{fmt::format("{}: was not compiled: interrupted", units[index].source)};
    pass_on(commands[index]);
    if (*status != 0)
      return Error{fmt::format("{} does not compile: see the message above{}", units[index].source,
                               advice_on(units[index]))};
  }
  return bitcode;
}

} // namespace tandem
