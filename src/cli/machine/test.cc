// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `tandem machine test`: random machines doing random things, every value checked.
#include "base/file.h"
#include "cli/common/program.h"
#include "cli/common/progress.h"
#include "cli/machine/commands.h"
#include "cli/machine/interrupt.h"
#include "cli/machine/simulate.h"
#include "machine/simulation/tester.h"

#include <nlohmann/json.hpp>

namespace tandem::machine_cli {
namespace {

constexpr int kFailedStatus = 1;

struct Arguments {
  std::string protocol;
  std::uint64_t seed = 1;
  unsigned seeds = 100;
  unsigned cores = 4;
  std::uint32_t operations = 20'000;
  std::vector<std::string> options;
  std::string json;
};

struct Totals {
  unsigned seeds = 0;
  std::uint64_t accesses = 0;
  std::vector<machine::RowCount> rows;
};

Status read_options(const Arguments &arguments, const machine::ProtocolEntry &protocol,
                    machine::TestRequest &request) {
  for (const std::string &name : arguments.options) {
    const Result<ProtocolSwitch> which = protocol_switch(name, protocol);
    if (!which)
      return which.error();
    request.options[which->name] = which->on ? 1 : 0;
  }
  return Unit{};
}

void add_rows(Totals &totals, const std::vector<machine::RowCount> &rows) {
  if (totals.rows.empty())
    totals.rows = rows;
  else
    for (std::size_t i = 0; i < rows.size(); ++i)
      totals.rows[i].taken += rows[i].taken;
}

std::string describe(const machine::TestResult &result, std::uint64_t seed) {
  std::string text = fmt::format("seed {} fails:\n{}\nthe script, shrunk to {} operations:\n", seed,
                                 result.failure, result.script.size());
  for (const machine::TestOperation &operation : result.script)
    text += "  " + machine::to_text(operation) + "\n";
  return text + "on this machine:\n" + result.machine;
}

nlohmann::ordered_json to_json(const Arguments &arguments, const Totals &totals,
                               const machine::TestResult *failed, std::uint64_t seed) {
  nlohmann::ordered_json file;
  file["version"] = 1;
  file["protocol"] = arguments.protocol;
  file["cores"] = arguments.cores;
  file["seeds"] = totals.seeds;
  file["accesses"] = totals.accesses;
  for (const machine::RowCount &row : totals.rows)
    file["rows"][row.controller].push_back(row.taken);
  if (failed != nullptr) {
    file["failure"] = {{"seed", seed}, {"text", failed->failure}, {"machine", failed->machine}};
    for (const machine::TestOperation &operation : failed->script)
      file["failure"]["script"].push_back(machine::to_text(operation));
  }
  return file;
}

Result<int> run(const Arguments &arguments) {
  const Result<const machine::ProtocolEntry *> protocol =
      machine::find_protocol(arguments.protocol);
  if (!protocol)
    return protocol.error();
  machine::TestRequest request;
  request.cores = arguments.cores;
  request.operations = arguments.operations;
  if (Status read = read_options(arguments, **protocol, request); !read)
    return read.error();
  if (Status writable = check_outputs({arguments.json}, {}); !writable)
    return writable.error();
  const Interrupt interrupt;
  Totals totals;
  std::optional<machine::TestResult> failed;
  {
    Progress progress(arguments.protocol, arguments.seeds);
    for (; totals.seeds < arguments.seeds && !interrupt.asked() && !failed; progress.advance()) {
      request.seed = arguments.seed + totals.seeds;
      Result<machine::TestResult> result = (*protocol)->test(request);
      if (!result)
        return result.error();
      ++totals.seeds;
      totals.accesses += result->accesses;
      if (result->failure.empty())
        add_rows(totals, result->rows);
      else
        failed = std::move(*result);
    }
  }
  if (!arguments.json.empty())
    if (Status written = write_file(
            arguments.json,
            to_json(arguments, totals, failed ? &*failed : nullptr, request.seed).dump(2) + "\n");
        !written)
      return written.error();
  std::size_t taken = 0;
  for (const machine::RowCount &row : totals.rows)
    taken += row.taken != 0 ? 1 : 0;
  if (arguments.json != "-") {
    if (failed)
      fmt::print("{}", describe(*failed, request.seed));
    else
      fmt::print("{}: {} seeds, {} accesses, every value right; {} of {} rows taken\n",
                 arguments.protocol, totals.seeds, totals.accesses, taken, totals.rows.size());
  }
  return failed ? kFailedStatus : interrupt.asked() ? kInterruptedStatus : 0;
}

} // namespace

int test_command(int argc, char **argv) {
  Program program("machine test", "random machines doing random things, every value checked");
  Arguments arguments;
  CLI::App &app = program.app();
  app.add_option("PROTOCOL", arguments.protocol, "the coherence protocol")->required();
  app.add_option("--seed", arguments.seed, "the first seed (default: 1)")->type_name("N");
  app.add_option("--seeds", arguments.seeds, "how many (default: 100)")->type_name("N");
  app.add_option("--cores", arguments.cores, "cores of the machines (default: 4)")
      ->type_name("N")
      ->check(CLI::Range(1U, 64U));
  app.add_option("--operations", arguments.operations, "of a seed's script (default: 20000)")
      ->type_name("N")
      ->check(CLI::Range(1U, 100'000'000U));
  app.add_option("--option", arguments.options,
                 "switch an option of the protocol on, or off as no-NAME; may be given again")
      ->type_name("NAME")
      ->allow_extra_args(false);
  program.add_json(arguments.json, "write the result as JSON instead of, or beside, the text");
  if (const std::optional<int> status = program.parse(argc, argv))
    return *status;
  const Result<int> status = run(arguments);
  return status ? *status : program.fail(status.error());
}

} // namespace tandem::machine_cli
