// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Main memory for tests of devices, without harts.
#pragma once

#include "machine/devices/dma.h"
#include "machine/devices/interrupts.h"

#include <cstring>
#include <vector>

namespace tandem::machine::testing {

class GuestMemory final : public DmaPort {
public:
  static constexpr std::uint64_t kBase = 0x8000'0000;

  explicit GuestMemory(std::size_t size) : bytes_(size) {}

  bool read(std::uint64_t address, std::span<std::byte> to) override {
    if (!inside(address, to.size()))
      return false;
    std::memcpy(to.data(), bytes_.data() + (address - kBase), to.size());
    return true;
  }
  bool write(std::uint64_t address, std::span<const std::byte> from) override {
    if (!inside(address, from.size()))
      return false;
    std::memcpy(bytes_.data() + (address - kBase), from.data(), from.size());
    return true;
  }
  [[nodiscard]] std::vector<std::byte> &bytes() { return bytes_; }

private:
  [[nodiscard]] bool inside(std::uint64_t address, std::size_t size) const {
    return address >= kBase && address - kBase <= bytes_.size() &&
           size <= bytes_.size() - (address - kBase);
  }
  std::vector<std::byte> bytes_;
};

// Remembers the levels of lines.
class Lines final : public InterruptController {
public:
  void set_level(unsigned source, bool level) override { levels[source] = level; }
  bool levels[64] = {};
};

} // namespace tandem::machine::testing
