// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What can happen in a state, and what did.
#pragma once

#include <cstdint>
#include <vector>

#include "machine/checker/state.h"

namespace tandem::machine::checker {

// One possible step: a message delivered, or an event raised at a controller.
struct Move {
  std::uint8_t event = 0;
  std::uint8_t block = 0;
  Node at;
  bool message = false;
  std::uint32_t slot = 0;     // of the message
  std::uint32_t choice = 0;   // what the environment chose, a bit for each question
  std::uint8_t asked = 0;     // of an access: which, see Asked
  bool transactional = false; // the access is a transaction's
  bool release = false;       // no event: the core's transaction that holds the block ends
};

// What happened in a step, for the chart; filled only on request.
struct Record {
  Move move;
  Message delivered;
  struct Taken {
    Node at;
    std::uint8_t event = 0;
    std::size_t row = 0;
  };
  std::vector<Taken> rows;
  std::vector<Message> sent;
};

// Of a step that was tried: it happened; it has to wait; the tables are wrong.
enum class Outcome : std::uint8_t { done, waits, failed };

} // namespace tandem::machine::checker
