// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What run and compare share: the options that say which machine does which work, and the runs.
#pragma once

#include "cli/common/program.h"
#include "cli/machine/interrupt.h"
#include "machine/simulation/simulation.h"

namespace tandem::machine_cli {

struct MachineOptions {
  std::string configuration = "flask";
  std::vector<std::string> settings;
  std::vector<std::string> options; // of the protocol: NAME, or no-NAME
  std::string trace;
  std::uint64_t accesses = 4'000'000;
  static constexpr std::uint64_t kUsual = ~std::uint64_t{0};
  std::uint64_t fast_forward = kUsual; // ten times as many as are measured
  std::uint64_t warm_up = kUsual;      // half as many as are measured
  std::uint64_t seed = 1;
  unsigned seeds = 1;
  bool check_values = false;
  std::uint64_t every = 0; // accesses of an interval; 0: none
};

void declare_machine(Program &program, MachineOptions &options);

// NAME switches an option of the protocol on, no-NAME off: its plain name and which; the error says
// what it has. All subcommands spell options like this.
struct ProtocolSwitch {
  std::string name;
  bool on = true;
};
Result<ProtocolSwitch> protocol_switch(const std::string &text,
                                       const machine::ProtocolEntry &protocol);
// The same as settings of the configuration.
Result<std::vector<std::string>> option_settings(const std::vector<std::string> &texts,
                                                 const machine::ProtocolEntry &protocol);

// A filter whose hashes do not reach all rows of the directory: one line that says so, once for
// each number of sets in a run of the program.
void say_unused_rows(const machine::Configuration &configuration,
                     const machine::ProtocolEntry &protocol, std::string_view program);

// The files that are read because of the options.
std::vector<std::string> inputs_of(const MachineOptions &options);

// All seeds of one protocol and workload, until Ctrl-C. The last result can be incomplete; results
// of which nothing was measured are left out. Errors are the user's; a protocol's failure aborts.
Result<std::vector<machine::RunResult>>
simulate(const machine::Configuration &configuration, const machine::ProtocolEntry &protocol,
         const std::string &workload, const MachineOptions &options, const Interrupt &interrupt);

} // namespace tandem::machine_cli
