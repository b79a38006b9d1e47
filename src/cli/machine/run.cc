// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine run`: one protocol, one machine, one workload.
#include "base/file.h"
#include "cli/machine/commands.h"
#include "cli/machine/results.h"
#include "cli/machine/run_program.h"
#include "cli/machine/simulate.h"

#include <algorithm>

namespace tandem::machine_cli {
namespace {

struct Arguments {
  MachineOptions machine;
  ProgramOptions program{};
  std::string protocol;
  std::string workload;
  std::string json;
  std::string csv;
  std::string intervals;
};

// More intervals than a plot can show; so many take a gigabyte.
constexpr std::uint64_t kMostIntervals = 100'000;

Status check_intervals(const Arguments &arguments) {
  const std::uint64_t every = arguments.machine.every;
  if ((every == 0) != arguments.intervals.empty())
    return Error{"--every N and --intervals FILE go together"};
  if (every != 0 && arguments.program.any())
    return Error{"--every with --program or --boot: a program has no such intervals; take "
                 "--workload or --trace"};
  if (every > arguments.machine.accesses && arguments.machine.trace.empty())
    return Error{fmt::format("--every {}: only {} accesses are measured (--accesses)", every,
                             arguments.machine.accesses)};
  if (every != 0 && arguments.machine.accesses / every > kMostIntervals)
    return Error{
        fmt::format("--every {}: more than {} intervals; take longer ones", every, kMostIntervals)};
  return Unit{};
}

// What the cores do, by the name or the file that the user gave.
const std::string &what_runs(const Arguments &arguments) {
  if (!arguments.program.program.empty())
    return arguments.program.program;
  if (!arguments.program.boot.empty())
    return arguments.program.boot;
  return arguments.workload.empty() ? arguments.machine.trace : arguments.workload;
}

Status write_results(const Arguments &arguments, const machine::Configuration &configuration,
                     const std::vector<machine::RunResult> &results) {
  const std::string first = csv_text(arguments.protocol) + "," + csv_text(what_runs(arguments));
  if (!arguments.json.empty())
    if (Status written =
            write_file(arguments.json,
                       to_json(configuration, results, arguments.machine.seeds).dump(2) + "\n");
        !written)
      return written.error();
  if (!arguments.csv.empty())
    if (Status written = write_file(arguments.csv, "protocol,workload,seed,metric,unit,value\n" +
                                                       csv_metrics(first, results));
        !written)
      return written.error();
  if (!arguments.intervals.empty())
    if (Status written = write_file(arguments.intervals, csv_intervals(results)); !written)
      return written.error();
  return Unit{};
}

// Whether a table would be mixed with a file on standard output.
bool prints_file(const Arguments &arguments) {
  return arguments.json == "-" || arguments.csv == "-" || arguments.intervals == "-";
}

// One thing that the cores do, and no option of another.
Status check_workload(const Arguments &arguments) {
  const ProgramOptions &program = arguments.program;
  const std::string *all[] = {&arguments.workload, &arguments.machine.trace, &program.program,
                              &program.boot};
  if (std::ranges::count_if(all, [](const std::string *one) { return !one->empty(); }) != 1)
    return Error{"say what the cores do: one of --workload NAME, --trace FILE, --program FILE and "
                 "--boot COMMAND"};
  if (program.program.empty() && !program.arguments.empty())
    return Error{"--argument is about a program: say --program FILE"};
  if (!program.any() && program.whole)
    return Error{"--whole is about a program: say --program FILE, or --boot COMMAND"};
  if (program.boot.empty() && !program.disks.empty())
    return Error{"--disk is about Linux: say --boot COMMAND"};
  if (!program.timeline.empty() && (!program.any() || arguments.machine.seeds > 1))
    return Error{"--timeline is about one run of a program: say --program FILE, or --boot COMMAND, "
                 "and no --seeds"};
  if (!arguments.machine.trace.empty() && arguments.machine.seeds > 1)
    return Error{"--seeds with --trace: a trace is the same for every seed"};
  return Unit{};
}

Result<int> run(const Arguments &arguments) {
  if (Status one = check_workload(arguments); !one)
    return one.error();
  if (Status good = check_intervals(arguments); !good)
    return good.error();
  const Result<const machine::ProtocolEntry *> protocol =
      machine::find_protocol(arguments.protocol);
  if (!protocol)
    return protocol.error();
  Result<std::vector<std::string>> options = option_settings(arguments.machine.options, **protocol);
  if (!options)
    return options.error();
  std::vector<std::string> settings = arguments.machine.settings;
  settings.insert(settings.end(), options->begin(), options->end());
  const Result<machine::Configuration> configuration =
      machine::load_configuration(arguments.machine.configuration, settings);
  if (!configuration)
    return configuration.error();
  if (Status fit = machine::check_fit(*configuration, **protocol); !fit)
    return fit.error();
  std::vector<std::string> inputs = inputs_of(arguments.machine);
  if (arguments.program.boot.empty())
    inputs.push_back(what_runs(arguments));
  for (const std::string &disk : arguments.program.disks)
    inputs.push_back(disk.substr(0, disk.find(',')));
  if (Status apart = check_outputs(
          {arguments.json, arguments.csv, arguments.intervals, arguments.program.timeline}, inputs);
      !apart)
    return apart.error();
  say_unused_rows(*configuration, **protocol, "machine run");
  const Interrupt interrupt;
  const Result<std::vector<machine::RunResult>> results =
      arguments.program.any()
          ? simulate_program(*configuration, **protocol, arguments.program, arguments.machine,
                             interrupt)
          : simulate(*configuration, **protocol, arguments.workload, arguments.machine, interrupt);
  if (!results)
    return results.error();
  if (Status written = write_results(arguments, *configuration, *results); !written)
    return written.error();
  if (results->empty()) {
    fmt::print(stderr, "tandem machine run: interrupted before anything was measured\n");
  } else if (!prints_file(arguments)) {
    if (Status written = write_file("-", to_text(*results, Terminal::of(stdout))); !written)
      return written.error();
  }
  return interrupt.asked() ? kInterruptedStatus : 0;
}

} // namespace

int run_command(int argc, char **argv) {
  Program program("machine run",
                  "simulate a protocol on a machine under synthetic traffic, a trace, a program or "
                  "Linux");
  Arguments arguments;
  program.app()
      .add_option("-p,--protocol", arguments.protocol, "the coherence protocol")
      ->type_name("NAME")
      ->required();
  program.app()
      .add_option("-w,--workload", arguments.workload, "synthetic traffic, by its name")
      ->type_name("NAME");
  program.app()
      .add_option("--trace", arguments.machine.trace, "a trace of accesses instead")
      ->type_name("FILE");
  declare_program(program, arguments.program);
  declare_machine(program, arguments.machine);
  program.app()
      .add_option("--csv", arguments.csv,
                  "write every metric of every seed as a line of CSV; - is standard output")
      ->type_name("FILE");
  program.app()
      .add_option("--every", arguments.machine.every,
                  "measured accesses between two dumps of all metrics (with --intervals)")
      ->type_name("N")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1} << 40));
  program.app()
      .add_option("--intervals", arguments.intervals,
                  "write these dumps as CSV, a line for each interval and its own figures; - is "
                  "standard output")
      ->type_name("FILE");
  program.add_json(arguments.json, "write the result as JSON instead of, or beside, the table");
  program.set_epilogue("Examples:\n"
                       "  tandem machine run -p flask -w apache-like\n"
                       "  tandem machine run -p sparse-directory -w apache-like --set "
                       "directory.provision_percent=5 --seeds 5 --json out.json\n"
                       "  tandem machine run -p flask --program build/workloads/kernels/fft "
                       "--argument 16\n"
                       "  tandem machine run -p flask --boot 'sh /disk/run' --disk memcached.img\n"
                       "Names: tandem machine list");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = run(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
