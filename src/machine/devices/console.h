// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The console's two ends: where the guest's characters go, and which device takes those typed.
#pragma once

#include <cstdint>

namespace tandem::machine {

class ConsoleSink {
public:
  virtual ~ConsoleSink() = default;
  virtual void output(std::uint8_t byte) = 0;
};

class ConsoleReceiver {
public:
  virtual ~ConsoleReceiver() = default;
  // Takes a byte; false if there is no room now.
  virtual bool receive(std::uint8_t byte) = 0;
  // Whether somebody inside would notice a byte.
  [[nodiscard]] virtual bool listening() const = 0;
};

} // namespace tandem::machine
