// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What several threads did in transactions, and whether that was opaque.
//
// Every value that is written is written once in the whole history, and whoever writes a place has
// read it before in the same attempt. So which write a read saw is known, and so is the order of
// all versions of a place; with both known, a history is opaque exactly if the graph of
//   - an attempt and the next one of its thread, and any that begins after it has ended,
//   - a writer and the readers of its version,
//   - the writer of a version and the writer of the next one,
//   - a reader of a version and the writer of the next one
// has no cycle, where attempts that were undone count as readers only, and no read saw a value that
// was never committed, or not its writer's last. Source: Guerraoui and Kapalka, Principles of
// Transactional Memory, graph characterisation of opacity.
//
// Plain accesses to data that a transaction has made private are an attempt of their own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace tandem::opacity {

using Value = std::uint64_t; // unique; a place's first one is initial_value, a multiple of 8
using Ticks = std::uint64_t; // of a clock that all threads share

enum class Outcome : std::uint8_t { committed, undone };

struct Access {
  std::uint32_t place;
  bool write;
  // A write that a nested transaction's cancelling has undone: nobody may see it. Reads always
  // count.
  bool dropped;
  Value value;
};

struct Attempt {
  Ticks begin;
  Ticks end;
  Outcome outcome;
  std::vector<Access> accesses; // in program order
};

// One thread's attempts, in order.
using ThreadHistory = std::vector<Attempt>;

constexpr Value initial_value(std::uint32_t place) { return 8 * Value{place} + 8; }
// The first value that is not a place's initial one.
inline constexpr Value kFirstWritten = 1 << 20;

// Clocks of two processors may differ by as much; attempts that are nearer are not ordered by it.
// Harts without time run through the same 100 cycles one after the other (docs/machine/harts.md),
// so that a cause may lie that far behind its effect; those with time share one clock.
#if defined(__riscv)
inline constexpr Ticks kClockError = 200;
#else
inline constexpr Ticks kClockError = 10'000;
#endif

// What is wrong with the history of `places` places, if anything. `finally`: what is in each place
// after all threads have ended.
std::optional<std::string> find_violation(const std::vector<ThreadHistory> &threads,
                                          const std::vector<Value> &finally);

} // namespace tandem::opacity
