// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a run ended, as an exit status and a line for people.
#pragma once

#include "machine/platform/board.h"
#include "machine/platform/elf.h"
#include "machine/run/session.h"

#include <optional>
#include <string>

namespace tandem::machine {

// As shells have it for SIGINT.
inline constexpr int kInterruptStatus = 130;

struct RunOutcome {
  int status = 0;
  std::string message{}; // one line, lower-case; empty: nothing to say
  std::string name{};    // one word for machines: "shutdown", "panic", ...
};

// Hart, privilege, pc and symbol: "hart 2 at 0x10432 (main+0x1c) in U-mode".
std::string where(const Hart &hart, const Symbols &symbols);
// The same for a hart that is most worth naming, and how many others run.
std::string where(Machine &machine, const Symbols &symbols);

// "hart 2 at 0x10432 (main+0x1c) in U-mode: load page fault, address 0x8".
std::string describe(const Crash &crash, const Symbols &symbols);

struct BoardRun {
  Session::Stop stop;
  bool until_given = false;
  bool until_seen = false;
  std::optional<std::string> panic{}; // the text behind "Kernel panic - not syncing: "
};
RunOutcome outcome_of(Board &board, const Symbols &symbols, const BoardRun &run);

} // namespace tandem::machine
