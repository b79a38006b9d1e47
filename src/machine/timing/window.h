// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions that a core with a window has under way: when each has what it needs, when its
// access may be sent, when its result is there, and when it retires. Knows no protocol and no
// values: who drives it says which instructions enter, in program order, and when accesses have
// been answered.
//
//   window.retire(now);
//   if (!window.full())
//     window.enter(now, {...});
//   while (const auto send = window.take_send(now))     // at window.next_send()
//     ... window.answered(send->slot, cycle) at once, or window.misses() and that later
//
// An operation begins when all of its sources are there and a unit of its kind is free, which
// takes one a cycle; who asks first goes first. A load takes its bytes from the youngest older
// store of the same word that is under way, if that has all of them; if it has some, the load is
// sent when the store has its own. An instruction retires when it and all older ones are done.
//
// For one thread. Cycles that are said to be now never go back. Invariant: an instruction whose
// `waits` is 0 has taken its unit.
#pragma once

#include "machine/event/wheel.h"
#include "machine/isa/operands.h"

#include <array>
#include <optional>
#include <tuple>
#include <vector>

namespace tandem::machine {

enum class Unit : std::uint8_t { integer, floating, memory };
inline constexpr std::size_t kUnits = 3;

inline constexpr std::uint32_t kMostUnits = 63; // of a kind

struct WindowLimits {
  std::uint32_t instructions = 196;                 // in flight
  std::uint32_t outstanding = 64;                   // misses
  std::array<std::uint32_t, kUnits> units{4, 4, 4}; // 1 to kMostUnits
  Cycle forward = 1;                                // of a load that takes its bytes from a store
};

// An instruction as it enters.
struct Entering {
  Operands operands{};
  Unit unit = Unit::integer;
  Cycle latency = 1;  // of the result; not of accesses
  unsigned lines = 0; // that it accesses, 0 to 2, with the bytes of the first
  bool store = false;
  std::array<std::uint64_t, 2> line{};
  std::uint64_t bytes = 0; // bit i is byte i of the line; only if it is one
  std::uint64_t pc = 0;
  std::uint64_t address = 0; // virtual
};

class Window {
public:
  struct Send {
    std::uint32_t slot;
    std::uint64_t line;
    bool store;
  };
  struct Instruction {
    Entering what{};
    Cycle start = 0;        // when it may begin, as far as its sources are known
    Cycle ready = 0;        // of the result; kNever: not known
    Cycle done = 0;         // the same
    Cycle answered = 0;     // of its accesses, the latest so far
    std::uint8_t waits = 0; // sources that are not known
    std::uint8_t parts = 0; // accesses that are not answered
    // Those that wait for its result, oldest first: slot * kSources + which source.
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
    std::array<std::uint32_t, 4> next{};
  };

  explicit Window(const WindowLimits &limits = {});

  [[nodiscard]] bool empty() const { return head_ == tail_; }
  [[nodiscard]] bool full() const { return tail_ - head_ >= limits_.instructions; }
  [[nodiscard]] std::uint64_t size() const { return tail_ - head_; }
  // Not empty.
  [[nodiscard]] const Instruction &oldest() const { return slots_[head_ & mask_]; }
  void retire(Cycle now) {
    while (head_ != tail_ && slots_[head_ & mask_].done <= now)
      ++head_;
  }
  // Not full. Result: whether it is a load that takes its bytes from a store.
  bool enter(Cycle now, const Entering &what);

  // From when on an access waits to be sent; kNever: none, or as many are out as may be.
  [[nodiscard]] Cycle next_send() const {
    return sends_.empty() || outstanding_ >= limits_.outstanding ? kNever : sends_.front().at;
  }
  std::optional<Send> take_send(Cycle now);
  // The access that was taken last is not answered at once.
  void misses() { ++outstanding_; }
  // An access of the instruction, whose bytes are there at `at`; `missed`: as misses() said, and
  // `at` is now.
  void answered(std::uint32_t slot, Cycle at, bool missed);

private:
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};
  static constexpr std::uint32_t kSources = 4; // three registers, and a store
  static constexpr std::size_t kPlan = 1024;   // cycles ahead for which units are planned, at first
  static constexpr std::size_t kWords = 256;   // of eight bytes, stored last

  struct Due {
    Cycle at;
    std::uint64_t number;
    std::uint8_t part;
    friend bool operator>(const Due &a, const Due &b) {
      return std::tie(a.at, a.number, a.part) > std::tie(b.at, b.number, b.part);
    }
  };
  struct Stored {
    std::uint64_t word = ~std::uint64_t{0}; // address over 8
    std::uint64_t number = 0;
    std::uint8_t bytes = 0; // of the word
  };
  using Begun = std::array<std::uint8_t, kUnits>; // operations of each kind in a cycle

  [[nodiscard]] bool in_flight(std::uint64_t number) const {
    return number >= head_ && number < tail_;
  }
  bool depend(std::uint64_t number, std::uint32_t source, std::uint64_t on);
  bool begin(std::uint32_t slot);
  void tell(std::uint32_t slot);
  [[nodiscard]] Begun &begun(Cycle at) { return plan_[at & (plan_.size() - 1)]; }
  void plan_from(Cycle now);
  void plan_further();
  Cycle take_unit(Unit unit, Cycle from);

  WindowLimits limits_;
  std::vector<Instruction> slots_; // a power of two, at least as many as may be in flight
  std::uint64_t mask_;
  std::uint64_t head_ = 1; // the oldest; numbers count from 1
  std::uint64_t tail_ = 1;
  std::array<std::uint64_t, 64> writer_{}; // the last to write each register
  std::vector<Due> sends_;                 // a heap, the earliest first
  std::uint32_t outstanding_ = 0;
  std::array<Stored, kWords> stored_{};
  // Of the cycles from planned_from_ on, each in its place: a power of two of them.
  std::vector<Begun> plan_ = std::vector<Begun>(kPlan);
  Cycle planned_from_ = 0;
  std::vector<std::uint32_t> told_; // whose results have just become known
};

} // namespace tandem::machine
