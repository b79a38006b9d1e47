// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine trace`: writes synthetic traffic as a trace.
#include "machine/trace/trace.h"
#include "base/file.h"
#include "base/output_file.h"
#include "cli/common/program.h"
#include "cli/common/terminal.h"
#include "cli/machine/commands.h"
#include "cli/machine/interrupt.h"
#include "machine/configuration/configuration.h"

namespace tandem::machine_cli {
namespace {

struct Arguments {
  std::string workload;
  std::string output;
  unsigned cores = 16;
  std::uint64_t accesses = 1'000'000;
  std::uint64_t seed = 1;
  unsigned dependent = machine::CoreConfiguration{}.dependent_percent;
};

Result<int> write(const Arguments &arguments) {
  const Result<machine::Profile> profile = machine::find_profile(arguments.workload);
  if (!profile)
    return profile.error();
  if (Status apart = check_outputs({arguments.output}, {arguments.workload}); !apart)
    return apart.error();
  const SignalsHeld held{SIGXFSZ};
  const Interrupt interrupt;
  Result<machine::TraceWriter> writer =
      machine::TraceWriter::create(arguments.output, arguments.cores);
  if (!writer)
    return writer.error();
  machine::TrafficGenerator traffic(*profile, arguments.cores, arguments.dependent, arguments.seed);
  // Core by core in turn, as they would run at the same speed.
  for (std::uint64_t i = 0; i < arguments.accesses && !writer->failed(); ++i) {
    if (interrupt.asked())
      return kInterruptedStatus;
    const auto core = static_cast<unsigned>(i % arguments.cores);
    machine::Operation operation;
    traffic.next(core, operation);
    writer->add(core, operation);
  }
  if (Status closed = writer->close(); !closed)
    return closed.error();
  return 0;
}

} // namespace

int trace_command(int argc, char **argv) {
  Program program("machine trace", "write synthetic traffic as a trace of accesses");
  Arguments arguments;
  CLI::App &app = program.app();
  app.add_option("-w,--workload", arguments.workload, "whose traffic")
      ->type_name("NAME")
      ->required();
  app.add_option("-o,--output", arguments.output, "the trace")->type_name("FILE")->required();
  app.add_option("--cores", arguments.cores, "cores (default: 16)")
      ->type_name("N")
      ->check(CLI::Range(1U, 64U));
  app.add_option("--accesses", arguments.accesses,
                 "records, fetches included, over all cores (default: 1000000)")
      ->type_name("N");
  app.add_option("--seed", arguments.seed, "of the traffic (default: 1)")->type_name("N");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = write(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
