// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs a board that has its programs, with the host's terminal around it.
#pragma once

#include "cli/machine/boot.h"
#include "machine/run/console.h"
#include "machine/run/session.h"

#include <optional>
#include <string>
#include <vector>

namespace tandem::machine_cli {

struct BootRun {
  const BootArguments &arguments;
  Watching watching;
  machine::Symbols symbols;
  std::vector<NetworkOption> networks;
};

// Notices on the console that the kernel panics, and ends the session then. Both outlive it.
class PanicWatch {
public:
  PanicWatch(machine::Console &console, machine::Session &session);
  // The kernel's own words, if it has panicked and not gone on to end as usual.
  [[nodiscard]] std::optional<std::string> text(const machine::Board &board,
                                                machine::Session::Stop stop) const;

private:
  const machine::Console *console_;
  bool panicked_ = false;
};

// The exit status; what is to be said has been said. Error: the user's mistake.
Result<int> run_board(machine::Board &board, const BootRun &run);

} // namespace tandem::machine_cli
