// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine exec`: a static RV64 Linux program on the proxy kernel, or a bare program.
#include "base/file.h"
#include "cli/common/terminal.h"
#include "cli/machine/commands.h"
#include "cli/machine/guest.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/process.h"
#include "cli/machine/quantities.h"
#include "cli/machine/timing.h"
#include "cli/machine/transactions.h"
#include "machine/platform/boot.h"
#include "machine/platform/map.h"
#include "machine/proxy/process.h"
#include "machine/run/console.h"
#include "machine/run/outcome.h"

#include <unistd.h>

namespace tandem::machine_cli {
namespace {

constexpr const char *kName = "tandem machine exec";

struct Arguments {
  unsigned harts = 4;
  std::string memory = "1G";
  std::vector<std::string> words; // the program and its arguments
  std::vector<std::string> environment;
  std::vector<std::string> writable;
  bool bare = false;
  WatchOptions watch{};
  TimingArguments timing{};
  TransactionArguments transactions{};
};

// What was run, for the files that say what it did.
struct Guest {
  machine::Machine &machine;
  const machine::Symbols &symbols;
  Places places;
  const char *kind;
};

Status write_json(const Arguments &arguments, const Watch &watch,
                  const machine::RunOutcome &outcome, Guest &guest, Timing *timing) {
  if (arguments.watch.json.empty())
    return Unit{};
  nlohmann::ordered_json json{{"format", "tandem-machine-run"},
                              {"version", 1},
                              {"command", "exec"},
                              {"kind", guest.kind},
                              {"outcome", outcome.name},
                              {"status", outcome.status},
                              {"message", outcome.message},
                              {"reproducible", true}};
  json.update(watch.summary());
  if (timing != nullptr)
    json["timing"] = timing->json();
  nlohmann::ordered_json transactions = transactions_json(guest.machine, guest.places);
  if (transactions["transactions"] != 0)
    json["transactions"] = std::move(transactions);
  return write_file(arguments.watch.json, json.dump(2) + "\n");
}

Result<int> finish(const Arguments &arguments, Watch &watch, const machine::RunOutcome &outcome,
                   Guest guest, Timing *timing) {
  if (Status written = watch.finish(); !written)
    return written.error();
  if (Status written = write_json(arguments, watch, outcome, guest, timing); !written)
    return written.error();
  const Result<std::string> program = absolute(arguments.words.front());
  if (!program)
    return program.error();
  if (Status written =
          write_profile(arguments.transactions, guest.machine, guest.places, *program,
                        arguments.words, timing != nullptr ? timing->clock_mhz() : 1000);
      !written)
    return written.error();
  if (timing != nullptr)
    if (Status written = timing->write_timeline(
            guest.symbols,
            fmt::format("{}, {}, {}", arguments.words.front(), arguments.timing.protocol,
                        counted(arguments.harts, "hart", "harts")));
        !written)
      return written.error();
  if (!outcome.message.empty())
    fmt::print(stderr, "{}: {}\n", kName, outcome.message);
  if (arguments.timing.summary)
    fmt::print(stderr, "{}", timing->text());
  return outcome.status;
}

Result<int> run_process(const Arguments &arguments, const Watching &watching,
                        const machine::ElfFile &program, std::uint64_t memory) {
  const Result<machine::proxy::ProcessOptions> options =
      process_options({.words = arguments.words,
                       .harts = arguments.harts,
                       .memory = memory,
                       .seed = arguments.watch.seed,
                       .environment = arguments.environment,
                       .writable = arguments.writable});
  if (!options)
    return options.error();
  Result<std::unique_ptr<machine::proxy::Process>> process =
      machine::proxy::Process::make(*options, program, [](const std::string &line) {
        fmt::print(stderr, "{}: {}\n", kName, line);
      });
  if (!process)
    return process.error();
  const Result<std::unique_ptr<Timing>> timing = make_timing(arguments.timing, **process);
  if (!timing)
    return timing.error();
  const Interrupt interrupt;
  machine::Session session(**process, interrupt.flag());
  const machine::Symbols symbols = program.symbols.moved(machine::proxy::bias_of(program));
  prepare_transactions(arguments.transactions, **process, symbols, kName);
  Watch watch(**process, symbols, arguments.watch, watching, kName);
  Result<machine::Session::Stop> stop = machine::Session::Stop::asked;
  with_failures_shown([&] { stop = watch.run(session); });
  if (!stop)
    return stop.error();
  return finish(arguments, watch, outcome_of(**process, symbols, *stop),
                {**process, symbols, Places(symbols, &(*process)->space()), "process"},
                timing->get());
}

Result<int> run_bare(const Arguments &arguments, const Watching &watching,
                     const machine::ElfFile &program, std::uint64_t memory) {
  if (arguments.words.size() > 1)
    return Error{fmt::format("{}: a bare program takes no arguments", program.path)};
  Result<std::unique_ptr<machine::Board>> board =
      machine::Board::make({.harts = arguments.harts, .memory = memory});
  if (!board)
    return board.error();
  const Result<machine::Symbols> symbols =
      machine::load_bare(**board, program, arguments.watch.seed);
  if (!symbols)
    return symbols.error();
  const Result<std::unique_ptr<Timing>> timing = make_timing(arguments.timing, **board);
  if (!timing)
    return timing.error();
  const Interrupt interrupt;
  machine::Session session(**board, interrupt.flag());
  machine::Console console(STDOUT_FILENO);
  (*board)->show(&console);
  session.after_slice([&console] { console.flush(); });
  prepare_transactions(arguments.transactions, **board, *symbols, kName);
  Watch watch(**board, *symbols, arguments.watch, watching, kName);
  Result<machine::Session::Stop> stop = machine::Session::Stop::asked;
  with_failures_shown([&] { stop = watch.run(session); });
  console.flush();
  if (!stop)
    return stop.error();
  return finish(arguments, watch,
                machine::outcome_of(**board, *symbols, {.stop = *stop, .panic = std::nullopt}),
                {**board, *symbols, Places(*symbols), "bare"}, timing->get());
}

Result<int> run(const Arguments &arguments) {
  const Result<Watching> watching = check_watching(arguments.watch);
  if (!watching)
    return watching.error();
  if (!arguments.timing.protocol.empty() &&
      (!arguments.watch.trace.empty() || arguments.watch.gdb != 0))
    return Error{"--trace and --gdb follow harts without time: leave out --protocol"};
  constexpr std::uint64_t kLarge = std::uint64_t{2} << 20;
  const Result<std::uint64_t> memory = parse_bytes(arguments.memory);
  if (!memory)
    return Error{fmt::format("--memory: {}", memory.error().message)};
  if (*memory < 4 * kLarge || *memory % kLarge != 0 || *memory > std::uint64_t{1} << 38)
    return Error{fmt::format("--memory {}: is to be 8M to 256G, in steps of 2M", arguments.memory)};
  Result<std::string> bytes = read_file(arguments.words.front());
  if (!bytes)
    return bytes.error();
  const Result<machine::ElfFile> program =
      machine::ElfFile::parse(arguments.words.front(), std::move(bytes).value());
  if (!program)
    return program.error();
  return arguments.bare || machine::proxy::is_bare(*program)
             ? run_bare(arguments, *watching, *program, *memory)
             : run_process(arguments, *watching, *program, *memory);
}

} // namespace

int exec_command(int argc, char **argv) {
  Program program("machine exec",
                  "run a static RV64 Linux program, or a bare one, on simulated harts");
  Arguments arguments;
  CLI::App &app = program.app();
  program.keep_rest_from_first_word();
  program.add_usage("[OPTIONS] PROGRAM [ARGUMENTS...]");
  app.add_option("--harts", arguments.harts, "harts (default: 4)")
      ->type_name("N")
      ->check(CLI::Range(1U, machine::map::kHartsMaximum));
  app.add_option("--memory", arguments.memory, "main memory (default: 1G)")->type_name("SIZE");
  app.add_option(
         "--env", arguments.environment,
         "a variable of the program's environment, NAME=VALUE or NAME as it is here; may be "
         "given again")
      ->type_name("NAME[=VALUE]")
      ->allow_extra_args(false);
  app.add_option("--writable", arguments.writable,
                 "a folder whose files the program may change on this host; all other changes are "
                 "forgotten when it ends")
      ->type_name("DIR")
      ->allow_extra_args(false);
  program.add_flag("--bare", arguments.bare,
                   "run it without the proxy kernel, in S-mode with the SBI (usual for programs "
                   "linked at 0x80000000 and above)");
  declare_watching(program, arguments.watch);
  declare_timing(program, arguments.timing);
  declare_transactions(program, arguments.transactions);
  program.set_epilogue("Status: the program's own; 3 when it crashed or reached --limit.\n"
                       "Examples:\n"
                       "  riscv64-linux-gnu-gcc -O2 -static -pthread program.c -o program\n"
                       "  tandem machine exec --harts 4 program argument\n"
                       "  tandem machine exec --harts 16 --mode timing --protocol flask --counts "
                       "program\n"
                       "Manual: docs/machine/exec.md");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  arguments.words = program.rest();
  arguments.timing.seed = arguments.watch.seed;
  if (arguments.words.empty())
    return program.fail(Error{"say which program, an RV64 ELF file; see --help"});
  const Result<int> status = run(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
