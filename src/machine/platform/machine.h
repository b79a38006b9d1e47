// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a debugger, a tracer, hashes and statistics need of a machine: a board with its firmware, or
// a process on a proxy kernel.
#pragma once

#include "machine/archive/archive.h"
#include "machine/bus/memory.h"
#include "machine/cores/functional.h"
#include "machine/firmware/harts_dma.h"
#include "machine/hart/harts.h"
#include "machine/platform/monitor.h"

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

// Exit status for what the guest did wrong: it crashed, panicked, hung.
inline constexpr int kGuestStatus = 3;

// How a guest has ended by itself.
struct GuestEnd {
  int status = 0;              // 0 to 255: the exit status of the command that ran it
  std::optional<int> signal{}; // that ended it, as <signal.h> numbers them: it has crashed
  unsigned hart = 0;           // where it crashed
};

class Machine {
public:
  virtual ~Machine() = default;
  [[nodiscard]] virtual Memory &memory() = 0;
  [[nodiscard]] virtual Harts &harts() = 0;
  [[nodiscard]] virtual const Clock &clock() const = 0;
  [[nodiscard]] virtual FunctionalCores &cores() = 0;
  [[nodiscard]] virtual Monitor &monitor() = 0;
  // The guest has ended by itself, or cannot go on.
  [[nodiscard]] bool ended() const { return guest_end().has_value(); }
  [[nodiscard]] virtual std::optional<GuestEnd> guest_end() const = 0;
  // What accesses main memory and is no hart: devices, a proxy kernel.
  [[nodiscard]] virtual HartsDma &dma() = 0;
  // What it counted beside instructions and cycles, by name; names and order never change.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::uint64_t>> counts() const = 0;
};

// All that a hart is, for an archive.
void hart_fields(Archive &archive, HartState &state);

} // namespace tandem::machine
