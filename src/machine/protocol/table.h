// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A controller as a table: (line state, transaction state, event) -> guards, actions, next states.
// One table is what the timed system runs, the checker proves, the printer prints and the mutation
// test alters; the tables are templates over the environment (environment.h) that actions work on.
//
// The rows of one (line, transaction, event) are tried in the table's order; the first whose
// guards all hold is taken. No such row is a hole, which is always fatal: "cannot happen" is never
// written down, and "nothing to do" is a row without actions.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "machine/protocol/types.h"

namespace tandem::machine {

enum class Role : std::uint8_t { core, home, memory, bus };

// Who raises an event: a core (load, store), the environment when it likes (an eviction, a timer),
// a message that arrives, a row that calls `raise`, another core on the bus, or a device that reads
// or writes memory without a cache (at a home; on a bus, at memory when the device has the bus).
enum class EventKind : std::uint8_t { core, spontaneous, message, raised, snoop, device };

struct StateInfo {
  const char *name;
  const char *description;
};

struct EventInfo {
  const char *name;
  EventKind kind;
  Vnet vnet; // of messages only
  const char *description;
};

// What a stalled event waits for. A row that may end the stall calls `wake` with the same name.
enum class Wake : std::uint8_t {
  none,
  transaction, // the end (or a step) of this block's transaction at this controller
  room,        // a way or an entry of a full set; only the environment stalls and wakes by it
};

// What a row must find free before it runs, unless the block already has it: the environment makes
// room first (it raises evict, dir_evict or llc_evict for a victim), and the event waits.
enum Needs : std::uint8_t { kNeedsWay = 1, kNeedsEntry = 2, kNeedsLlc = 4 };

// An option of a protocol: a member of its Config.
template <class Config> struct ConfigField {
  const char *name;
  bool Config::*value;
  const char *description; // what it does when it is set
};

template <class E> struct Guard {
  const char *name; // as the table prints it, such as "no sharer but the requester"
  bool (*holds)(E &);
};

template <class E> struct Action {
  const char *name; // as the table prints it, such as "send Data to the requester"
  void (*run)(E &);
};

enum class RowKind : std::uint8_t {
  step,
  stall,  // the event stays where it is until `wake`
  nack,   // bus only: the snoop refuses; the whole bus transaction is as if it had not been
  refuse, // the same, because of a hardware transaction: the requester's access is over
};

// A set of states of one enum.
template <class S> struct Mask {
  std::uint32_t bits = 0;
};
template <class S, class... More> constexpr Mask<S> in(S first, More... more) {
  return {((std::uint32_t{1} << static_cast<unsigned>(first)) | ... |
           (std::uint32_t{1} << static_cast<unsigned>(more)))};
}
template <class S> inline constexpr Mask<S> kAnyState{~std::uint32_t{0}};

// One row of controller C for environment E. Built by `when(...)` and the methods that follow it.
template <class E, class C> struct Row {
  using L = typename C::LineState;
  using T = typename C::TbeState;
  static constexpr std::size_t kActions = 8, kGuards = 4;
  static constexpr std::int8_t kSame = -1;

  std::uint32_t lines = 0, tbes = 0; // sets of states
  std::uint8_t event = 0;
  RowKind kind = RowKind::step;
  Wake wake = Wake::none;
  std::uint8_t needs = 0;
  std::int8_t next_line = kSame, next_tbe = kSame;
  std::uint8_t actions_used = 0, guards_used = 0;
  std::array<const Guard<E> *, kGuards> guards{};
  std::array<const Action<E> *, kActions> actions{};
  const char *why = ""; // one sentence for the printed table
  // The option of the protocol that the row is of; null: it is always there.
  bool C::Protocol::Config::*option = nullptr;

  // All must hold.
  template <class... G> constexpr Row given(const G &...guard) const {
    Row row = *this;
    ((row.guards[row.guards_used++] = &guard), ...);
    return row;
  }
  // In this order; after the last of them the states change.
  template <class... A> constexpr Row run(const A &...action) const {
    Row row = *this;
    ((row.actions[row.actions_used++] = &action), ...);
    return row;
  }
  constexpr Row next(L line) const {
    Row row = *this;
    row.next_line = static_cast<std::int8_t>(line);
    return row;
  }
  constexpr Row next(T tbe) const
    requires(!std::is_same_v<L, T>)
  {
    Row row = *this;
    row.next_tbe = static_cast<std::int8_t>(tbe);
    return row;
  }
  constexpr Row next(L line, T tbe) const { return next(line).next(tbe); }
  constexpr Row stall(Wake until = Wake::transaction) const {
    Row row = *this;
    row.kind = RowKind::stall;
    row.wake = until;
    return row;
  }
  constexpr Row nack() const {
    Row row = *this;
    row.kind = RowKind::nack;
    return row;
  }
  constexpr Row refuse() const {
    Row row = *this;
    row.kind = RowKind::refuse;
    return row;
  }
  constexpr Row need(unsigned what) const {
    Row row = *this;
    row.needs = static_cast<std::uint8_t>(row.needs | what);
    return row;
  }
  constexpr Row only(bool C::Protocol::Config::*set) const {
    Row row = *this;
    row.option = set;
    return row;
  }
  constexpr Row because(const char *sentence) const {
    Row row = *this;
    row.why = sentence;
    return row;
  }
};

// `when` for the rows of one controller:  using Base = Rows<E, Core>; Base::when(in(..), in(..),
// ..)
template <class E, class C> struct Rows {
  using Row = machine::Row<E, C>;
  template <class Event>
  static constexpr Row when(Mask<typename C::LineState> lines, Mask<typename C::TbeState> tbes,
                            Event event) {
    Row row;
    row.lines = lines.bits;
    row.tbes = tbes.bits;
    row.event = static_cast<std::uint8_t>(event);
    return row;
  }
};

// A table made ready for use: for each (line, transaction, event) the rows to try. Built once per
// run (or per mutant); lookups allocate nothing.
template <class E, class C> class Dispatch {
public:
  using Row = machine::Row<E, C>;
  static constexpr std::size_t kLines = std::size(C::kLineStates);
  static constexpr std::size_t kTbes = std::size(C::kTbeStates);
  static constexpr std::size_t kEvents = std::size(C::Protocol::kEvents);
  static_assert(kLines <= 32 && kTbes <= 32);

  explicit Dispatch(std::span<const Row> rows) : rows_(rows.begin(), rows.end()) { order(nullptr); }
  Dispatch() : Dispatch(std::span<const Row>(C::template Rules<E>::kRows)) {}

  // From now on rows of options that are not set are not tried.
  void configure(const typename C::Protocol::Config &config) { order(&config); }

  // The row for this event in the environment's present states; null is a hole.
  const Row *find(E &env, std::uint8_t event) const {
    const std::size_t cell = (static_cast<std::size_t>(env.line().state) * kTbes +
                              static_cast<std::size_t>(env.tbe().state)) *
                                 kEvents +
                             event;
    for (std::size_t i = first_[cell]; i < first_[cell + 1]; ++i) {
      const Row &row = rows_[order_[i]];
      bool holds = true;
      for (std::size_t g = 0; g < row.guards_used && holds; ++g)
        holds = row.guards[g]->holds(env);
      if (holds)
        return &row;
    }
    return nullptr;
  }

  // Runs a row that is a step.
  static void take(E &env, const Row &row) {
    for (std::size_t i = 0; i < row.actions_used; ++i)
      row.actions[i]->run(env);
    if (row.next_line != Row::kSame)
      env.line().state = static_cast<typename C::LineState>(row.next_line);
    if (row.next_tbe != Row::kSame)
      env.tbe().state = static_cast<typename C::TbeState>(row.next_tbe);
  }

  std::size_t index(const Row &row) const { return static_cast<std::size_t>(&row - rows_.data()); }
  std::span<const Row> rows() const { return rows_; }

private:
  void order(const typename C::Protocol::Config *config) {
    order_.clear();
    std::size_t cell = 0;
    for (std::size_t line = 0; line < kLines; ++line)
      for (std::size_t tbe = 0; tbe < kTbes; ++tbe)
        for (std::size_t event = 0; event < kEvents; ++event, ++cell) {
          first_[cell] = static_cast<std::uint16_t>(order_.size());
          for (std::size_t i = 0; i < rows_.size(); ++i)
            if (rows_[i].event == event && (rows_[i].lines >> line & 1) != 0 &&
                (rows_[i].tbes >> tbe & 1) != 0 &&
                (config == nullptr || rows_[i].option == nullptr || config->*rows_[i].option))
              order_.push_back(static_cast<std::uint16_t>(i));
        }
    first_[cell] = static_cast<std::uint16_t>(order_.size());
  }

  std::vector<Row> rows_;
  std::vector<std::uint16_t> order_; // row numbers, cell after cell
  std::array<std::uint16_t, kLines * kTbes * kEvents + 1> first_{};
};

} // namespace tandem::machine
