// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The controllers of the timed system, as data: one core unit a core, one home unit a slice, one
// memory unit a memory controller.
#pragma once

#include "machine/filter/partition.h"
#include "machine/filter/presence.h"
#include "machine/timed/port.h"
#include "machine/timed/private_caches.h"
#include "machine/timed/statistics.h"
#include "machine/timed/transactions.h"

#include <optional>
#include <type_traits>
#include <vector>

namespace tandem::machine::timed {

// What stands for the parts that a protocol does not have.
struct Nothing {
  template <class Self, class V> static void fields(Self &, V &) {}
};
struct NoController {
  enum class State : std::uint8_t { none };
  struct Line : Nothing {
    State state{};
  };
  using Tbe = Line;
  struct Llc : Nothing {
    explicit operator bool() const { return false; }
  };
};
template <class C> using OrNone = std::conditional_t<std::is_void_v<C>, NoController, C>;

template <class C> struct AgentOfImpl {
  using type = Nothing;
};
template <class C>
  requires requires { typename C::Agent; }
struct AgentOfImpl<C> {
  using type = typename C::Agent;
};
template <class C> using AgentOf = typename AgentOfImpl<C>::type;

template <class C> struct LlcOfImpl {
  using type = NoController::Llc;
};
template <class C>
  requires requires { typename C::Llc; }
struct LlcOfImpl<C> {
  using type = typename C::Llc;
};
template <class C> using LlcOf = typename LlcOfImpl<C>::type;

template <class C> constexpr bool line_stays() {
  if constexpr (requires { C::kLineStays; })
    return C::kLineStays;
  else
    return false;
}
template <class P> constexpr bool has_filter() {
  if constexpr (requires { P::kFilter; })
    return P::kFilter;
  else
    return false;
}

// The filter of a slice: as many rows as the directory has sets; with an exact set beside it where
// values are checked. `spill_groups`: a row counts members without a cell in all groups that it has
// room for, else in one.
filter::PresenceParameters filter_parameters(const Configuration &configuration, std::uint64_t seed,
                                             bool exact_set_beside, bool spill_groups);

// What the protocol says of it.
template <class P> bool spill_groups(const typename P::Config &config) {
  if constexpr (requires { P::spill_groups(config); })
    return P::spill_groups(config);
  else
    return true;
}

// The share of false positives that the formula of the filter's kind gives for so many members of a
// slice, `spilled` of them without a cell.
double expected_false_positives(const Configuration &configuration, double members, double spilled,
                                bool spill_groups);

// Tokens of a block: what the protocol asks for, else as many as cores.
template <class P> constexpr unsigned usual_tokens(unsigned cores) {
  if constexpr (requires { P::tokens(cores); })
    return P::tokens(cores);
  else
    return cores;
}

// What all controllers have.
template <class C> struct Unit {
  Node node;                // as messages name it
  std::uint32_t tile = 0;   // where it is on the network
  std::uint32_t number = 0; // among its kind
  Transactions<typename C::Tbe> transactions;
  ParkedList parked; // wait for a step of their block's transaction
  ParkedList room;   // wait for room in an array
  AgentOf<C> agent{};
};

template <class C> struct CoreUnit : Unit<C> {
  explicit CoreUnit(const Configuration &configuration) : caches(configuration) {}

  PrivateCaches<typename C::Line> caches;
  std::optional<std::uint64_t> reserved; // block of a load_reserved
  // While a reservation is young, what would take its block waits (ahead.h, open_window).
  bool window_open = false; // for `reserved`
  Cycle window_ends = 0;
  std::vector<std::uint32_t> held; // packets for this core that wait for its end, in order
  std::vector<Cycle> arrivals;     // of what is scheduled to reach this core, in any order
  Cycle mean_miss = 0;             // cycles, times 256: a running average
};

template <class C> struct HomeUnit : Unit<C> {
  HomeUnit(const ArrayShape &entries, const ArrayShape &lines) : directory(entries), llc(lines) {}

  SetAssociativeArray<typename C::Line> directory;
  SetAssociativeArray<LlcOf<C>> llc;
  std::optional<filter::Presence> filter;
  filter::PartitionPolicy policy;
  filter::Move move = filter::Move::none; // decided in a step, done after it
  std::optional<unsigned> draining;       // the sub-table that becomes a way
};

template <class C> struct MemoryUnit : Unit<C> {
  std::uint64_t channel_free = 0; // in 256ths of a cycle
};

} // namespace tandem::machine::timed
