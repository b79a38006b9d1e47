// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a kernel is told about the machine: a flattened device tree.
//
// Source: Devicetree Specification 0.4; the kernel's bindings for RISC-V harts, the PLIC, ns16550a
// and virtio,mmio.
#pragma once

#include "base/result.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

namespace tandem::machine {

struct TreeOptions {
  unsigned harts = 1;
  std::uint64_t memory = 0;  // bytes
  unsigned virtio_slots = 0; // the first ones have a device
  bool uart_is_console = true;
  std::string arguments;                                           // bootargs
  std::optional<std::pair<std::uint64_t, std::uint64_t>> initrd{}; // physical, [start, end)
  std::array<std::uint8_t, 32> random{};                           // rng-seed
};

// The blob.
std::string make_device_tree(const TreeOptions &options);

// A tree of the user's own: whether it is whole. Error: `PATH: is no device tree: reason`.
Status check_device_tree(const std::string &path, const std::string &blob);

} // namespace tandem::machine
