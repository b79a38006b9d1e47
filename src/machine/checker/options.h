// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a search is asked and what it answers; nothing here depends on a protocol.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "machine/protocol/types.h"

namespace tandem::machine::checker {

inline constexpr unsigned kCheckerCores = 5;
inline constexpr unsigned kCheckerBlocks = 2;

struct Options {
  unsigned cores = 3;   // 1 to kCheckerCores
  unsigned blocks = 1;  // 1 to kCheckerBlocks; they compete for the same sets
  unsigned tokens = 0;  // of a block; 0: as many as cores
  bool ordered = false; // messages of one pair and virtual network stay in order
  bool symmetry = true; // states that differ only by core numbers are one (if the protocol allows)

  // Finite resources; 0 is no limit.
  std::array<unsigned, kVnets> buffers{}; // messages at a destination, for each virtual network
  unsigned ways = 0;                      // blocks that a core can hold
  unsigned entries = 0;                   // directory entries at the home
  unsigned llc = 0;                       // blocks in the last-level cache

  bool stores = true;        // cores may write
  bool devices = false;      // a device reads and writes, too: one access for each block at a time
  bool reservations = false; // loads may reserve, stores may be conditional (LR/SC)
  bool transactions = false; // accesses may be those of hardware transactions
  bool evictions = true;     // spontaneous events other than loads and stores may happen
  bool sequential = false;   // nothing begins by itself while anything is under way
  std::uint64_t never = 0;   // events that do not happen by themselves: a bit for each, see bit()
  bool filter_false_positives = true;
  bool liveness = true;          // also: quiescence stays reachable
  bool chart = true;             // draw the counterexample
  std::uint64_t most_states = 0; // give up beyond; 0: no limit

  // Called about every 2^17 states; null: never.
  std::function<void(std::uint64_t states, std::uint64_t waiting)> progress = nullptr;
  const std::atomic<bool> *stop = nullptr; // set by a signal handler: end with what is known
};

template <class Event> constexpr std::uint64_t bit(Event event) {
  return std::uint64_t{1} << static_cast<unsigned>(event);
}

enum class Verdict : std::uint8_t {
  proved,   // every reachable state was seen, none violates anything
  violated, // `violation` says what, `chart` how
  unknown,  // stopped, or most_states was reached, with no violation so far
};

struct Result {
  Verdict verdict = Verdict::unknown;
  std::string violation;
  std::string chart;          // a message sequence chart
  std::uint64_t states = 0;   // canonical ones
  std::uint64_t steps = 0;    // transitions tried
  unsigned depth = 0;         // of the breadth-first search
  unsigned most_messages = 0; // in flight in one state
  double bytes_per_state = 0; // of all that is kept for one, tables included
  double seconds = 0;         // of processor time
  // How often each row of a controller's table was taken.
  struct Coverage {
    std::vector<std::uint64_t> rows;
  };
  Coverage core, home, memory;
};

} // namespace tandem::machine::checker
