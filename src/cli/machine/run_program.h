// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program, or Linux with one, in place of synthetic traffic: RV64 harts on the machine's cores,
// with time.
#pragma once

#include "cli/machine/simulate.h"

#include <string>
#include <vector>

namespace tandem::machine_cli {

struct ProgramOptions {
  std::string program;                // an ELF file; empty: no program
  std::vector<std::string> arguments; // of the program
  std::string boot;                   // a command for Linux; empty: none
  std::vector<std::string> disks;     // of Linux
  bool whole = false;                 // measure all of it, whatever it says
  std::string timeline;               // a file for the page of time; empty: none

  [[nodiscard]] bool any() const { return !program.empty() || !boot.empty(); }
};

void declare_program(Program &program, ProgramOptions &options);

// All seeds of one program under one protocol. What the program says is measured is measured
// (include/tandem/machine.h); its standard output goes to standard error. Errors are the user's: no
// such program, one that crashes, answers with another status than 0, or measures nothing. A
// protocol's failure aborts.
Result<std::vector<machine::RunResult>>
simulate_program(const machine::Configuration &configuration,
                 const machine::ProtocolEntry &protocol, const ProgramOptions &program,
                 const MachineOptions &options, const Interrupt &interrupt);

} // namespace tandem::machine_cli
