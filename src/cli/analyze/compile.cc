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

Result<Command> command_for(const std::string &source, const std::vector<std::string> &flags,
                            const std::string &bitcode, bool colour) {
  const Result<std::string> compiler = compiler_of(source);
  if (!compiler)
    return compiler.error();
  Command command;
  // -O1 keeps clang from marking every function optnone; the driver keeps the passes themselves
  // off, because a report is asked for. No report is written: that is for links.
  command.words = {programs_folder() + "/" + *compiler, "-O1"};
  if (colour)
    command.words.emplace_back("-fcolor-diagnostics");
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

Result<std::vector<std::string>> compile_sources(const std::vector<std::string> &sources,
                                                 const std::vector<std::string> &flags,
                                                 const PrivateFolder &folder, EndSignals &signals) {
  std::vector<std::string> bitcode;
  std::vector<Command> commands;
  for (const std::string &source : sources) {
    if (::access(source.c_str(), R_OK) != 0)
      return read_file(source).error();
    bitcode.push_back(fmt::format("{}/{}.bc", folder.path(), bitcode.size()));
    Result<Command> command =
        command_for(source, flags, bitcode.back(), Terminal::of(stderr).colour);
    if (!command)
      return command.error();
    commands.push_back(std::move(*command));
  }
  Progress progress("compiling", sources.size());
  const auto statuses =
      run_all(commands, processors(), signals, [&progress] { progress.advance(); });
  progress.clear();
  if (!statuses)
    return statuses.error();
  for (std::size_t index = 0; index < sources.size(); ++index) {
    const std::optional<int> &status = (*statuses)[index];
    if (!status)
      return Error{fmt::format("{}: was not compiled: interrupted", sources[index])};
    pass_on(commands[index]);
    if (*status != 0)
      return Error{fmt::format("{} does not compile: see the message above", sources[index])};
  }
  return bitcode;
}

} // namespace tandem
