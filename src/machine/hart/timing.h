// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a hart and a core with timing have to do with each other. The core says which lines are in
// its L1s, and what may be done with them; the hart runs as long as that suffices, and else says
// what it wants and stays where it is. Then the core lets it run that one instruction at the
// instant at which the access is performed.
//
// Two filters, by physical line: an entry is a line of an L1, with the place where its order of use
// is kept. They only ever hold what HartLines::find() said, until drop() names the line. For one
// thread.
#pragma once

#include "base/check.h"
#include "machine/event/wheel.h"
#include "machine/hart/store_buffer.h"

#include <array>
#include <cstddef>
#include <cstdint>

namespace tandem::machine {

inline constexpr std::uint64_t kLineBytes = 64;
inline constexpr unsigned kLineShift = 6;
inline constexpr std::uint64_t kNoLine = ~std::uint64_t{0};

// Why a hart with timing cannot go on by itself.
enum class Want : std::uint8_t {
  nothing,
  fetch, // of the instruction's line, or of its second
  load,
  store,
  atomic,
  load_reserved,
  store_conditional,
  walk,        // an entry of a page table
  walk_update, // its A or D
  device,      // an access to what is no memory
  hint,        // an instruction for the simulator
  transaction, // a step that changes a transaction's state, at its own cycle
  drain,       // that no store waits in the buffer any more
  room,        // for one more store in it
};

// An L1's line. Lines are physical addresses over kLineBytes.
struct LineEntry {
  std::uint64_t readable = kNoLine; // the line, if it may be read
  std::uint64_t writable = kNoLine; // the line, if a store changes nothing but bytes
  std::uint64_t *stamp = nullptr;   // a use does *stamp = ++*clock
  std::uint64_t *clock = nullptr;
};

// Who knows which lines are in the L1s.
class HartLines {
public:
  virtual ~HartLines() = default;
  // Of the L1 for code or for data; an entry without readable if the line is not there.
  virtual LineEntry find(unsigned hart, std::uint64_t line, bool code) = 0;
  // Before this cycle no other hart or device acts; this hart may, in its burst.
  [[nodiscard]] virtual Cycle alone_until(unsigned hart) const = 0;
};

// How an instruction went that was let run.
enum class Granted : std::uint8_t {
  done,
  wants, // something else by now; an access to two lines may have done its first part
  trap,  // nothing has changed
};

struct HartTiming {
  HartLines *lines = nullptr; // null: without time
  std::array<LineEntry, 256> data{};
  std::array<LineEntry, 64> code{};
  // Accesses that hit by the filters; fetches are counted once for each new line.
  std::uint64_t loads = 0;
  std::uint64_t stores = 0;
  std::uint64_t fetches = 0;

  Want want = Want::nothing; // with the line
  std::uint64_t wanted = kNoLine;
  unsigned hint = 0;

  // While the core lets one instruction run: what it was asked for, and whether it was used.
  Want granted = Want::nothing;
  std::uint64_t granted_line = kNoLine;
  bool used = false;
  bool device_granted = false;
  // Lines that were fetched for the next instruction, whatever has become of them since.
  std::array<std::uint64_t, 2> fetched{kNoLine, kNoLine};

  // The line of code in which the hart runs: where its slots begin.
  std::uintptr_t slots = 0;
  std::uint64_t line = kNoLine;

  StoreBuffer buffer; // empty when the hart has no time

  bool integer_only = false; // one instruction is run, and it is no floating-point one
  // While it is set, loads and stores happen at once, whatever the L1 has; of the instruction's
  // lines it is kept which they are.
  bool records = false;
  unsigned recorded = 0;
  std::array<std::uint64_t, 2> recorded_lines{};
  bool recorded_store = false;

  // The first part of an access to two lines, when it is done and the second is not.
  std::uint64_t first_part = kNoLine; // its address
  std::uint64_t first_value = 0;      // of a load: its bytes

  void leave_line() {
    slots = 0;
    line = kNoLine;
  }
  // The line is not in the L1s any more, or may be used less.
  void drop(std::uint64_t dropped) {
    LineEntry &entry = data[dropped % data.size()];
    if (entry.readable == dropped || entry.writable == dropped)
      entry = {};
    LineEntry &of_code = code[dropped % code.size()];
    if (of_code.readable == dropped)
      of_code = {};
    if (line == dropped)
      leave_line();
  }
  void clear() {
    buffer.clear();
    data.fill({});
    code.fill({});
    leave_line();
    want = Want::nothing;
    fetched = {kNoLine, kNoLine};
    first_part = kNoLine;
  }

  // Whether no store waits; else that is what the hart wants.
  bool drained() {
    if (buffer.empty())
      return true;
    want = Want::drain;
    return false;
  }
  // Whether the filters let the hart use the line, which then may() does.
  bool hits(unsigned hart, std::uint64_t wanted_line, Want kind) {
    if (granted != Want::nothing || records || kind == Want::load_reserved ||
        kind == Want::store_conditional)
      return false;
    LineEntry &entry = data[wanted_line % data.size()];
    if ((kind == Want::load ? entry.readable : entry.writable) != wanted_line)
      entry = lines->find(hart, wanted_line, false);
    return (kind == Want::load ? entry.readable : entry.writable) == wanted_line;
  }
  // Whether the hart may use the line now, by a filter or because it is granted; else it is wanted.
  bool may(unsigned hart, std::uint64_t wanted_line, Want kind) {
    const bool write = kind != Want::load;
    const bool reserves = kind == Want::load_reserved || kind == Want::store_conditional;
    if (records && (kind == Want::load || kind == Want::store)) {
      CHECK(recorded < recorded_lines.size(), "an access to {} lines", recorded + 1);
      recorded_lines[recorded++] = wanted_line;
      recorded_store = write;
      return true;
    }
    LineEntry &entry = data[wanted_line % data.size()];
    if (granted_line == wanted_line && granted == kind) {
      used = true;
      return true;
    }
    // An access to two lines is granted one at a time, whatever the L1 has.
    if (!reserves && granted == Want::nothing) {
      if ((write ? entry.writable : entry.readable) != wanted_line)
        entry = lines->find(hart, wanted_line, false);
      if ((write ? entry.writable : entry.readable) == wanted_line) {
        *entry.stamp = ++*entry.clock;
        ++(write ? stores : loads);
        return true;
      }
    }
    want = kind;
    wanted = wanted_line;
    return false;
  }
  // The same for an entry of a page table, whatever the instruction is granted.
  bool may_walk(unsigned hart, std::uint64_t wanted_line, bool update) {
    LineEntry &entry = data[wanted_line % data.size()];
    if ((update ? entry.writable : entry.readable) != wanted_line)
      entry = lines->find(hart, wanted_line, false);
    if ((update ? entry.writable : entry.readable) == wanted_line) {
      *entry.stamp = ++*entry.clock;
      ++(update ? stores : loads);
      return true;
    }
    want = update ? Want::walk_update : Want::walk;
    wanted = wanted_line;
    return false;
  }
  bool may_fetch(unsigned hart, std::uint64_t wanted_line) {
    if (granted != Want::nothing || device_granted || fetched[0] == wanted_line ||
        fetched[1] == wanted_line)
      return true;
    LineEntry &entry = code[wanted_line % code.size()];
    if (entry.readable != wanted_line)
      entry = lines->find(hart, wanted_line, true);
    if (entry.readable == wanted_line) {
      *entry.stamp = ++*entry.clock;
      ++fetches;
      return true;
    }
    want = Want::fetch;
    wanted = wanted_line;
    return false;
  }
};

} // namespace tandem::machine
