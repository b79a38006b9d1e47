// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every instruction as a line: number, cycle, hart, privilege, address, symbol, text, and what it
// changed: registers, the address that it accessed, the trap that it took. For one thread.
#pragma once

#include "base/result.h"
#include "machine/platform/elf.h"
#include "machine/run/session.h"

#include <cstdint>
#include <cstdio>
#include <string>

namespace tandem::machine {

class Trace {
public:
  // Instructions [from, from + count) since the machine's start are written to `out`; all outlive
  // the trace.
  Trace(Machine &machine, const Symbols &symbols, std::FILE *out, std::uint64_t from,
        std::uint64_t count)
      : machine_(&machine), symbols_(&symbols), out_(out), from_(from), count_(count) {}

  // As Session::run().
  Session::Stop run(Session &session, std::uint64_t limit);

private:
  struct Before;
  bool step();
  [[nodiscard]] Before look(unsigned hart) const;
  void write(const Before &before, const Hart &hart, std::uint64_t number, Cycle cycle);

  Machine *machine_;
  const Symbols *symbols_;
  std::FILE *out_;
  std::uint64_t from_;
  std::uint64_t count_;
};

} // namespace tandem::machine
