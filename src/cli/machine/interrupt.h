// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ctrl-C during a long simulation: the first one asks it to end with what it has, the second one
// ends the program at once.
#pragma once

#include <atomic>

namespace tandem::machine_cli {

// While it lives, SIGINT and SIGTERM set the flag. One at a time.
class Interrupt {
public:
  Interrupt();
  ~Interrupt();
  Interrupt(const Interrupt &) = delete;
  Interrupt &operator=(const Interrupt &) = delete;

  [[nodiscard]] bool asked() const;
  [[nodiscard]] const std::atomic<bool> &flag() const;
};

// Of a program that Ctrl-C has ended, with a valid partial result: as a shell has it.
inline constexpr int kInterruptedStatus = 130;

} // namespace tandem::machine_cli
