// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The physical bus: main memory and devices, each at its range. What is nowhere is an access fault.
// For one thread.
#pragma once

#include "base/result.h"
#include "machine/bus/device.h"
#include "machine/bus/memory.h"

#include <string>
#include <vector>

namespace tandem::machine {

class Bus {
public:
  // The memory must outlive the bus; so must the devices.
  explicit Bus(Memory &memory) : memory_(&memory) {}

  // Puts `device` at [base, base + size). Error: that overlaps memory or another device.
  Status attach(const std::string &name, std::uint64_t base, std::uint64_t size, Device &device);

  [[nodiscard]] Memory &memory() { return *memory_; }
  [[nodiscard]] const Memory &memory() const { return *memory_; }

  // An access to a device: `size` is 1, 2, 4 or 8, the address a multiple of it. False: nothing is
  // mapped there, or the device refuses.
  bool device_load(std::uint64_t address, unsigned size, std::uint64_t &value);
  bool device_store(std::uint64_t address, unsigned size, std::uint64_t value);

private:
  struct Mapping {
    std::string name;
    std::uint64_t base;
    std::uint64_t size;
    Device *device;
  };
  Mapping *find(std::uint64_t address, unsigned size);

  Memory *memory_;
  std::vector<Mapping> mappings_; // by base
};

} // namespace tandem::machine
