// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What harts with time did when, and which lines they waited for: cycles of each hart by what it
// spent them on, in intervals that grow with the run; and of every line of data that was missed,
// who touched which of its bytes. Exact counts, no samples. Observes, and changes nothing. For one
// thread.
#pragma once

#include "machine/hart/clock.h"

#include <array>
#include <cstdint>
#include <map>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace tandem::machine {

// What a hart spends a cycle on: an instruction of U or S, waiting for memory, being served.
enum class Spent : std::uint8_t {
  user,
  system,
  fetch,
  load,
  store,
  atomic,
  walk,
  service,
  idle, // waiting for an interrupt, or stopped
};
inline constexpr std::array<std::string_view, 9> kSpentNames = {
    "user", "system", "fetch", "load", "store", "atomic", "walk", "service", "idle"};
inline constexpr std::size_t kSpentKinds = kSpentNames.size();

// An access to data that the L1 had not, or not with what it takes.
struct MissedAccess {
  std::uint64_t line = 0;     // physical, in units of 64 bytes
  std::uint64_t virtual_ = 0; // address of the first byte accessed in it
  std::uint64_t bytes = 0;    // which of the line's: bit i is byte i
  std::uint64_t pc = 0;
  bool writes = false;
  Cycle waited = 0;
};

// A line by those who missed it.
struct LineStory {
  struct Party {
    std::uint64_t reads = 0; // misses
    std::uint64_t writes = 0;
    std::uint64_t bytes_read = 0; // of the line, in these misses
    std::uint64_t bytes_written = 0;
  };
  enum class Sharing : std::uint8_t {
    none,    // one hart
    reading, // several, nobody writes
    truly,   // one writes bytes that another one touches
    falsely, // one writes, and nobody else touches its bytes
  };
  std::uint64_t misses = 0;
  Cycle cycles = 0;           // waited by all harts together
  std::uint64_t virtual_ = 0; // of the last access
  std::map<unsigned, Party> harts{};
  std::map<std::uint64_t, std::uint64_t> places{}; // misses by pc

  [[nodiscard]] Sharing sharing() const;
};

class Timeline {
public:
  using Cycles = std::array<std::uint64_t, kSpentKinds>;
  static constexpr std::size_t kIntervals = 256;

  explicit Timeline(unsigned harts) : harts_(harts) {}

  // [from, to) of a hart; what lies between two of its spans is idle. In order of time.
  void spend(unsigned hart, Spent what, Cycle from, Cycle to);
  // Time without caches has passed: nothing is known of it. Until the next begin().
  void begin(Cycle at);
  void missed(unsigned hart, const MissedAccess &access);
  // Up to this cycle harts that did nothing were idle.
  void finish(Cycle at);

  [[nodiscard]] Cycle start() const { return start_; }
  [[nodiscard]] Cycle width() const { return width_; } // of an interval
  [[nodiscard]] std::size_t harts() const { return harts_.size(); }
  // The intervals that were reached, from start() on.
  [[nodiscard]] const std::vector<Cycles> &of(unsigned hart) const {
    return harts_[hart].intervals;
  }
  [[nodiscard]] const std::unordered_map<std::uint64_t, LineStory> &lines() const { return lines_; }

private:
  struct OfHart {
    std::vector<Cycles> intervals{};
    Cycle told = 0; // up to here
  };
  void add(OfHart &hart, Spent what, Cycle from, Cycle to);
  void widen();

  std::vector<OfHart> harts_;
  std::unordered_map<std::uint64_t, LineStory> lines_;
  Cycle start_ = 0;
  Cycle width_ = 64;
  bool begun_ = false;
};

} // namespace tandem::machine
