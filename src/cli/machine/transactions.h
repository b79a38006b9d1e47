// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hardware transactions of `exec`: the options that are about them, what was counted, also as a
// profile (docs/formats/profile.md).
#pragma once

#include "cli/common/program.h"
#include "cli/machine/places.h"
#include "machine/platform/elf.h"
#include "machine/platform/machine.h"

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tandem::machine_cli {

struct TransactionArguments {
  std::uint64_t limit = 0; // stxlimit of every hart; 0: as the guest sets it
  bool release = false;    // early release on every hart (stxctl), until the guest sets it
  std::string profile{};   // a file
};

void declare_transactions(Program &program, TransactionArguments &arguments);

// Settings that are all about transactions need no protocol.
[[nodiscard]] bool only_about_transactions(const std::vector<std::string> &settings);

// Before the guest runs: the limit, and where broken rules are told. Nothing is run.
void prepare_transactions(const TransactionArguments &arguments, machine::Machine &machine,
                          const machine::Symbols &symbols, const char *command);

// Of docs/formats/machine-run.md, `transactions`.
nlohmann::ordered_json transactions_json(machine::Machine &machine, Places &places);

// Writes the profile if one was asked for. `program`: its absolute path.
Status write_profile(const TransactionArguments &arguments, machine::Machine &machine,
                     Places &places, const std::string &program,
                     const std::vector<std::string> &words, std::uint32_t clock_mhz);

} // namespace tandem::machine_cli
