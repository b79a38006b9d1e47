// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The firmware below S-mode, as the machine's own code: the Supervisor Binary Interface 1.0 with
// BASE, TIME, IPI, RFENCE, HSM, SRST and the legacy calls 0 to 8. A call costs the cycle of its
// ECALL; interrupts and fences of other harts take effect at their next instruction.
//
// Source: RISC-V Supervisor Binary Interface specification 1.0.
#pragma once

#include "machine/archive/archive.h"
#include "machine/devices/console.h"
#include "machine/hart/harts.h"

#include <array>
#include <cstdint>
#include <deque>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace tandem::machine {

enum class SystemReset : std::uint8_t { shutdown, reboot, failure };

class Sbi final : public HartEnvironment, public ConsoleReceiver {
public:
  // Calls of each extension, for statistics; the last is for what there is not.
  enum Extension : std::uint8_t { base, time, ipi, rfence, hsm, srst, legacy, unknown };
  static constexpr std::array<const char *, 8> kNames = {"base", "time", "ipi",    "rfence",
                                                         "hsm",  "srst", "legacy", "unknown"};

  // `reset` is called from within the call that asks for it.
  Sbi(Harts &harts, ConsoleSink &sink, std::function<void(SystemReset)> reset);

  // Starts a hart as firmware does: a0 is its number, a1 `opaque`. U-mode may read the counters;
  // the manual leaves that open, and kernels take it as OpenSBI has it (Linux reads `time` in its
  // vDSO and never writes scounteren).
  static void start(Hart &hart, std::uint64_t pc, std::uint64_t opaque);

  Action trap(Hart &hart, const Trap &trap) override;

  // Characters for the legacy console: 64 wait, as in a serial port's buffer.
  bool receive(std::uint8_t byte) override;
  [[nodiscard]] bool listening() const override { return polled_; }

  [[nodiscard]] const std::array<std::uint64_t, 8> &calls() const { return calls_; }
  void fields(Archive &archive);

private:
  // What a call gives: an error and a value; legacy calls have no value.
  struct Answer {
    std::int64_t error = 0;
    std::int64_t value = 0;
  };
  using Registers = std::array<std::uint64_t, 33>;

  Extension count(std::uint64_t extension);
  Answer call(Hart &hart, const Registers &x);
  Answer base_call(std::uint64_t function, std::uint64_t argument) const;
  Answer send_ipi(std::uint64_t mask, std::uint64_t first);
  Answer remote_fence(const Registers &x);
  Answer hart_state_call(Hart &hart, const Registers &x);
  Answer system_reset(const Registers &x);
  std::int64_t legacy_call(Hart &hart, const Registers &x);
  // The harts of a mask, numbers from `first` on; all if `first` is all ones. None: there are not
  // that many.
  [[nodiscard]] std::optional<std::vector<unsigned>> targets(std::uint64_t mask,
                                                             std::uint64_t first) const;

  Harts *harts_;
  ConsoleSink *sink_;
  std::function<void(SystemReset)> reset_;
  std::deque<std::uint8_t> typed_;
  bool polled_ = false;                 // the guest has asked for a character
  std::vector<std::uint8_t> suspended_; // by hart: its last call was a suspend
  std::array<std::uint64_t, 8> calls_{};
};

} // namespace tandem::machine
