// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/process.h"

#include "base/file.h"
#include "cli/machine/program_run.h"
#include "cli/machine/timing.h"

#include <array>
#include <cerrno>
#include <climits>
#include <csignal>
#include <cstdlib>
#include <cstring>

namespace tandem::machine_cli {

Result<std::string> absolute(const std::string &path) {
  std::array<char, PATH_MAX> resolved{};
  if (::realpath(path.c_str(), resolved.data()) == nullptr)
    return Error{fmt::format("{}: cannot be read: {}", path, std::strerror(errno))};
  return std::string(resolved.data());
}

namespace {

// NAME=VALUE as it is; NAME as this process has it.
Result<std::vector<std::string>> environment_of(const std::vector<std::string> &given) {
  std::vector<std::string> variables = {"PATH=/usr/bin:/bin", "HOME=/", "LANG=C.UTF-8"};
  for (const std::string &text : given) {
    if (text.empty() || text.front() == '=')
      return Error{fmt::format("--env {}: is no NAME=VALUE", text)};
    if (text.find('=') != std::string::npos) {
      variables.push_back(text);
      continue;
    }
    const char *value = std::getenv(text.c_str());
    if (value == nullptr)
      return Error{fmt::format("--env {}: is not set here; write {}=VALUE", text, text)};
    variables.push_back(fmt::format("{}={}", text, value));
  }
  return variables;
}

} // namespace

Result<machine::proxy::ProcessOptions> process_options(const ProcessArguments &arguments) {
  machine::proxy::ProcessOptions options{.harts = arguments.harts, .memory = arguments.memory};
  options.kernel.arguments = arguments.words;
  options.kernel.seed = arguments.seed;
  const Result<std::string> program = absolute(arguments.words.front());
  const Result<std::string> folder = absolute(".");
  Result<std::vector<std::string>> environment = environment_of(arguments.environment);
  if (!program || !folder)
    return program ? folder.error() : program.error();
  if (!environment)
    return environment.error();
  options.kernel.program = *program;
  options.kernel.folder = *folder;
  options.kernel.environment = std::move(environment).value();
  for (const std::string &path : arguments.writable) {
    const Result<std::string> writable = absolute(path);
    if (!writable)
      return Error{fmt::format("--writable {}", writable.error().message)};
    options.kernel.writable.push_back(*writable);
  }
  return options;
}

namespace {

machine::RunOutcome signalled(const machine::proxy::ProcessEnd &end,
                              const machine::Symbols &symbols) {
  const std::string place = fmt::format(
      "hart {} at {:#x}{}", end.hart, end.pc,
      symbols.find(end.pc) ? fmt::format(" ({})", symbols.describe(end.pc)) : std::string());
  const std::string name = end.signal > 0 && ::sigabbrev_np(end.signal) != nullptr
                               ? fmt::format("SIG{}", ::sigabbrev_np(end.signal))
                               : fmt::format("signal {}", end.signal);
  const std::string cause = end.trap ? fmt::format("{}, address {:#x} ({})",
                                                   name_of(end.trap->cause), end.trap->value, name)
                                     : fmt::format("{}, which it or its handler asked for", name);
  return {.status = machine::kGuestStatus,
          .message =
              fmt::format("the program crashed: {}: {}; look with --trace or --gdb", place, cause),
          .name = "crash"};
}

} // namespace

machine::RunOutcome outcome_of(machine::proxy::Process &process, const machine::Symbols &symbols,
                               machine::Session::Stop stop) {
  switch (stop) {
  case machine::Session::Stop::ended:
    break;
  case machine::Session::Stop::limit:
    return {.status = machine::kGuestStatus,
            .message = fmt::format("no end after {} instructions (--limit): {}",
                                   process.cores().schedule().instructions,
                                   machine::where(process, symbols)),
            .name = "limit"};
  case machine::Session::Stop::deadlock:
    return {.status = machine::kGuestStatus,
            .message = "deadlock: every thread waits for another one; look with --gdb where",
            .name = "deadlock"};
  case machine::Session::Stop::asked:
  case machine::Session::Stop::interrupted:
    return {.status = machine::kInterruptStatus, .name = "interrupted"};
  }
  const machine::proxy::ProcessEnd &end = *process.kernel().end();
  switch (end.kind) {
  case machine::proxy::ProcessEnd::Kind::exit:
    return {.status = end.status, .name = "exit"};
  case machine::proxy::ProcessEnd::Kind::no_memory:
    return {.status = machine::kGuestStatus,
            .message = fmt::format("the program needs more memory than the machine has, {} MB; use "
                                   "a larger --memory",
                                   process.memory().size() >> 20),
            .name = "memory"};
  case machine::proxy::ProcessEnd::Kind::signal:
    break;
  }
  return signalled(end, symbols);
}

namespace {

class ProcessRun final : public ProgramRun {
public:
  ProcessRun(std::string name, const machine::ElfFile &program,
             std::unique_ptr<machine::proxy::Process> process)
      : name_(std::move(name)), symbols_(program.symbols.moved(machine::proxy::bias_of(program))),
        process_(std::move(process)) {}

  machine::Machine &machine() override { return *process_; }
  [[nodiscard]] const machine::Symbols &symbols() const override { return symbols_; }
  std::string run(const std::atomic<bool> &interrupted) override {
    machine::Session session(*process_, interrupted);
    machine::Session::Stop stop = machine::Session::Stop::asked;
    with_failures_shown([&] { stop = session.run(machine::Session::kNoLimit); });
    if (stop == machine::Session::Stop::interrupted)
      return "";
    const machine::RunOutcome outcome = outcome_of(*process_, symbols_, stop);
    if (outcome.status == 0)
      return "";
    return fmt::format("{}: {}", name_,
                       outcome.message.empty() ? fmt::format("ended with status {}", outcome.status)
                                               : outcome.message);
  }

private:
  std::string name_;
  machine::Symbols symbols_;
  std::unique_ptr<machine::proxy::Process> process_;
};

} // namespace

Result<std::unique_ptr<ProgramRun>> ProgramRun::make(const std::vector<std::string> &words,
                                                     unsigned harts, std::uint64_t seed) {
  Result<std::string> bytes = read_file(words.front());
  if (!bytes)
    return bytes.error();
  const Result<machine::ElfFile> program =
      machine::ElfFile::parse(words.front(), std::move(bytes).value());
  if (!program)
    return program.error();
  if (machine::proxy::is_bare(*program))
    return Error{
        fmt::format("{}: is a bare program, which `tandem machine exec` runs", words.front())};
  const Result<machine::proxy::ProcessOptions> options = process_options(
      {.words = words, .harts = harts, .seed = seed, .environment = {}, .writable = {}});
  if (!options)
    return options.error();
  Result<std::unique_ptr<machine::proxy::Process>> process =
      machine::proxy::Process::make(*options, *program, [](const std::string &line) {
        fmt::print(stderr, "tandem machine run: {}\n", line);
      });
  if (!process)
    return process.error();
  return std::unique_ptr<ProgramRun>(
      std::make_unique<ProcessRun>(words.front(), *program, std::move(process).value()));
}

} // namespace tandem::machine_cli
