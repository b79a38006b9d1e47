// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A protocol's tables as plain data: what the printers print. No environment, no templates.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "machine/protocol/table.h"

namespace tandem::machine {

struct TableDocument {
  struct Row {
    std::uint32_t lines = 0, tbes = 0; // sets of states
    std::uint8_t event = 0;
    RowKind kind = RowKind::step;
    std::uint8_t needs = 0;
    int next_line = -1, next_tbe = -1; // -1: as before
    std::vector<std::string> guards, actions;
    std::string why;
    std::uint64_t taken = 0;  // in the searches of the proof
    std::uint64_t tested = 0; // in the random tests of the timed system
  };
  struct Controller {
    std::string name;
    std::vector<StateInfo> lines, tbes;
    std::vector<Row> rows;
  };
  struct Option {
    std::string name, description;
    bool set = false; // unless it is changed
  };

  std::string name, summary;
  std::vector<Option> options;
  std::vector<EventInfo> events;
  std::vector<Controller> controllers;
  std::vector<std::string> proofs; // one line for each search behind `taken`; empty: none was run
  std::string tests;               // what is behind `tested`; empty: none was run
};

// "(S,O)/(M_D,M_A) Load", states as in the tables; `*` for all of them.
std::string row_name(const TableDocument &document, const TableDocument::Controller &controller,
                     const TableDocument::Row &row);

// One page: states, events, and for each controller the matrix of states and events and all rows.
std::string html(const TableDocument &document);
// The same rows as text, one line each.
std::string text(const TableDocument &document);

} // namespace tandem::machine
