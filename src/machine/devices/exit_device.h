// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a bare program ends the machine: SiFive's test device. A store of 0x5555 is success, 0x7777 a
// reset, 0x3333 failure with a code in bits 31:16; any other is ignored.
#pragma once

#include "machine/bus/device.h"

#include <cstdint>
#include <functional>
#include <utility>

namespace tandem::machine {

enum class ExitReason : std::uint8_t { pass, fail, reset };

class ExitDevice : public Device {
public:
  static constexpr std::uint64_t kSize = 0x1000;

  // `ended` is called from within the store; `code` is 0 but for fail.
  explicit ExitDevice(std::function<void(ExitReason reason, std::uint16_t code)> ended)
      : ended_(std::move(ended)) {}

  bool load(std::uint64_t /*offset*/, unsigned /*size*/, std::uint64_t &value) override {
    value = 0;
    return true;
  }
  bool store(std::uint64_t offset, unsigned /*size*/, std::uint64_t value) override {
    if (offset != 0)
      return true;
    const auto code = static_cast<std::uint16_t>(value >> 16);
    switch (value & 0xFFFF) {
    case 0x5555:
      ended_(ExitReason::pass, 0);
      break;
    case 0x3333:
      ended_(ExitReason::fail, code);
      break;
    case 0x7777:
      ended_(ExitReason::reset, 0);
      break;
    default:
      break;
    }
    return true;
  }

private:
  std::function<void(ExitReason, std::uint16_t)> ended_;
};

} // namespace tandem::machine
