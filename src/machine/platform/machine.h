// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a debugger, a tracer, hashes and statistics need of a machine: a board with its firmware, or
// a process on a proxy kernel.
#pragma once

#include "machine/archive/archive.h"
#include "machine/bus/memory.h"
#include "machine/cores/functional.h"
#include "machine/hart/harts.h"
#include "machine/platform/monitor.h"

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine {

class Machine {
public:
  virtual ~Machine() = default;
  [[nodiscard]] virtual Memory &memory() = 0;
  [[nodiscard]] virtual Harts &harts() = 0;
  [[nodiscard]] virtual const Clock &clock() const = 0;
  [[nodiscard]] virtual FunctionalCores &cores() = 0;
  [[nodiscard]] virtual Monitor &monitor() = 0;
  // The guest has ended by itself, or cannot go on.
  [[nodiscard]] virtual bool ended() const = 0;
  // What it counted beside instructions and cycles, by name; names and order never change.
  [[nodiscard]] virtual std::vector<std::pair<std::string, std::uint64_t>> counts() const = 0;
};

// All that a hart is, for an archive.
void hart_fields(Archive &archive, HartState &state);

} // namespace tandem::machine
