// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Devices as options describe them.
#pragma once

#include "base/result.h"
#include "machine/platform/board.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine_cli {

// FILE[,ro][,latency=TIME].
Result<machine::DiskOptions> parse_disk(const std::string &text);

struct NetworkOption {
  machine::NetworkChoice kind;
  // Of a relay: a port of this host's loopback, and the guest's that it leads to.
  std::vector<std::pair<std::uint16_t, std::uint16_t>> forwards{};
};
// none, pair, or relay[=HOST:GUEST[,HOST:GUEST...]].
Result<NetworkOption> parse_network(const std::string &text);

// uart, sbi, virtio.
Result<machine::ConsoleKind> parse_console(const std::string &text);

} // namespace tandem::machine_cli
