// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The command line of `tandem machine boot`.
#pragma once

#include "cli/machine/guest.h"

#include <string>
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
};

} // namespace tandem::machine_cli
