// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What transactions and others did to memory, in the order in which it happened: for a checker of
// histories (htm/testing/history_checker.h), never for a machine that is measured.
#pragma once

#include <cstdint>
#include <vector>

namespace tandem::machine {

struct HistoryEvent {
  enum class Kind : std::uint8_t { begin, read, write, commit, abort, release };
  Kind kind = Kind::read;
  std::uint8_t size = 0;         // bytes; never across a block
  std::uint32_t hart = 0;        // of a read or write
  std::uint64_t transaction = 0; // its handle; 0: outside of all
  std::uint64_t address = 0;     // physical
  std::uint64_t value = 0;       // that was read or written
};
using History = std::vector<HistoryEvent>;

} // namespace tandem::machine
