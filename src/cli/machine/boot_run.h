// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a board that has its programs, with the host's terminal around it.
#pragma once

#include "cli/machine/boot.h"
#include "cli/machine/devices.h"
#include "machine/platform/board.h"
#include "machine/platform/elf.h"

#include <vector>

namespace tandem::machine_cli {

struct BootRun {
  const BootArguments &arguments;
  Watching watching;
  machine::Symbols symbols;
  std::vector<NetworkOption> networks;
};

// The exit status; what is to be said has been said. Error: the user's mistake.
Result<int> run_board(machine::Board &board, const BootRun &run);

} // namespace tandem::machine_cli
