// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `tandem machine boot`.
#pragma once

#include "cli/machine/devices.h"
#include "cli/machine/guest.h"
#include "cli/machine/timing.h"
#include "cli/machine/transactions.h"
#include "machine/platform/board.h"
#include "machine/platform/elf.h"

#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine_cli {

struct BootArguments {
  unsigned harts = 1;
  std::string memory = "512M";
  std::string kernel{}, initrd{}, tree{}, append{}, symbols{};
  std::vector<std::string> disks{}, networks{};
  std::string console = "uart";
  std::string run{}, until{};
  std::vector<std::string> type{};
  std::string prompt = "# ";
  std::string record{}, replay{}, save{}, restore{};
  bool keys_to_guest = false;
  WatchOptions watch{};
  TimingArguments timing{};
  TransactionArguments transactions{};
  std::string change{}; // TEXT=MODE
};

// A board that is to run on: restored, or new with its kernel. What the user has not named becomes
// the default image's in `arguments`. Error: the user's mistake.
Result<std::unique_ptr<machine::Board>> make_board(BootArguments &arguments,
                                                   machine::Symbols &symbols,
                                                   std::vector<NetworkOption> &networks);

// The two parts of --change TEXT=MODE, cut at the last '='; both empty if there is none.
std::pair<std::string, std::string> change_of(const std::string &option);

} // namespace tandem::machine_cli
