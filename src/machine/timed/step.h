// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed/system.h: one event at one controller, by its table.
#pragma once

#include "machine/timed/system.h"

namespace tandem::machine {

// The event, and then everything that its step woke.
template <class P, class Client>
template <class C>
void System<P, Client>::handle(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event,
                               const Message &message, AccessId access, bool from_core,
                               std::uint64_t waits_for) {
  step<C>(unit, block, event, message, access, from_core, waits_for);
  if (depth_ == 0 && !wakes_.empty())
    drain_wakes();
}

template <class P, class Client>
template <class C>
auto System<P, Client>::step(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event,
                             const Message &message, AccessId access, bool from_core,
                             std::uint64_t waits_for) -> Progress {
  ++depth_;
  EnvOf<C> env(*this, unit, block, message, access);
  env.from_core_ = from_core;
  load_state<C>(env);
  const RowOf<C> *row = tables_of<C>().dispatch.find(env, event);
  if (row == nullptr)
    hole<C>(env, event, "no row");
  bool parked = row->kind == RowKind::stall;
  Wake wake = row->wake;
  if (row->kind == RowKind::nack)
    hole<C>(env, event, "a nack outside of a snoop");
  if (!parked && row->needs != 0 && !make_room<C>(env, row->needs, waits_for)) {
    parked = true;
    wake = Wake::room;
  }
  if (parked) {
    const Parked waiting{block, waits_for, message, event, wake, access, from_core};
    (wake == Wake::room ? unit.room : unit.parked).push(waiting);
    if constexpr (std::is_same_v<C, Home>)
      ++statistics_.home.waits;
    --depth_;
    return Progress::parked;
  }
  take_row<C>(env, *row, event);
  run_raised<C>(env);
  count_step<C>(env, event);
  store_state<C>(env, event == static_cast<std::uint8_t>([] {
                        if constexpr (std::is_same_v<C, Core>)
                          return Event::evict;
                        else if constexpr (requires { Event::dir_evict; })
                          return Event::dir_evict;
                        else
                          return Event::evict;
                      }()),
                 [event] {
                   if constexpr (requires { Event::llc_evict; })
                     return event == static_cast<std::uint8_t>(Event::llc_evict);
                   else
                     return event == 0xff;
                 }());
  --depth_;
  return Progress::taken;
}

template <class P, class Client>
template <class C>
void System<P, Client>::take_row(EnvOf<C> &env, const RowOf<C> &row, std::uint8_t event) {
  const auto line = static_cast<unsigned>(env.line().state);
  const auto tbe = static_cast<unsigned>(env.tbe().state);
  ++tables_of<C>().taken[tables_of<C>().dispatch.index(row)];
  ++statistics_.steps;
  Dispatch<EnvOf<C>, C>::take(env, row);
  if (!history_.empty())
    remember<C>(env, event, line, tbe);
}

// What the actions raised, in order; those rows can raise more. A raised event cannot wait, so
// whatever it needs must give way at once.
template <class P, class Client>
template <class C>
void System<P, Client>::run_raised(EnvOf<C> &env) {
  for (unsigned i = 0; i < env.raised_used_; ++i) {
    const std::uint8_t event = env.raised_[i];
    const RowOf<C> *row = tables_of<C>().dispatch.find(env, event);
    if (row == nullptr || row->kind != RowKind::step)
      hole<C>(env, event, row == nullptr ? "no row" : "a raised event must not wait");
    std::uint64_t waits_for = kNoBlock;
    if (row->needs != 0 && !make_room<C>(env, row->needs, waits_for))
      hole<C>(env, event, "no room for a raised event");
    take_row<C>(env, *row, event);
  }
}

template <class P, class Client>
template <class C>
void System<P, Client>::load_state(EnvOf<C> &env) {
  auto &unit = env.unit_;
  if constexpr (timed::line_stays<C>()) {
    if constexpr (std::is_same_v<C, Home>)
      env.line_ = blocks_.at(env.block_).home;
    else if constexpr (std::is_same_v<C, Memory>)
      env.line_ = blocks_.at(env.block_).memory;
  } else if constexpr (std::is_same_v<C, Core>) {
    if (const auto place = unit.caches.find(env.block_); place)
      env.line_ = unit.caches.line(place);
  } else if constexpr (std::is_same_v<C, Home>) {
    if (const auto line = unit.directory.find(env.block_); line != unit.directory.kNone)
      env.line_ = unit.directory.payload(line);
  }
  if constexpr (std::is_same_v<C, Home>)
    if (const auto line = unit.llc.find(env.block_); line != unit.llc.kNone)
      env.llc_ = unit.llc.payload(line);
  const std::uint32_t at = unit.transactions.find(env.block_);
  if (at == unit.transactions.kNone)
    return;
  env.tbe_ = unit.transactions[at].tbe;
  env.tbe_access_ = unit.transactions[at].access;
}

// Puts the copies back. An entry whose state is 0 is free, unless a transaction keeps the way that
// it reserved; after its eviction not even then.
template <class P, class Client>
template <class C>
void System<P, Client>::store_state(EnvOf<C> &env, bool evicted_line, bool evicted_llc) {
  auto &unit = env.unit_;
  const bool busy = static_cast<unsigned>(env.tbe_.state) != 0;
  std::uint32_t at = unit.transactions.find(env.block_);
  bool freed = false;
  if (busy) {
    if (at == unit.transactions.kNone) {
      at = unit.transactions.insert(env.block_, now());
      if constexpr (std::is_same_v<C, Core>)
        tell_lost(unit, env.block_);
    }
    unit.transactions[at].tbe = env.tbe_;
    // An access that did not hit is what the transaction is for.
    if (env.access_ != kNoAccess && env.tbe_access_ != kNoAccess)
      hole<C>(env, env.message_.type, "an access joins the transaction of another");
    unit.transactions[at].access = env.access_ != kNoAccess ? env.access_ : env.tbe_access_;
  } else if (at != unit.transactions.kNone) {
    unit.transactions.erase(at);
    freed = true;
    if constexpr (std::is_same_v<C, Core>)
      tell_lost(unit, env.block_);
  }
  if constexpr (timed::line_stays<C>()) {
    if constexpr (std::is_same_v<C, Home>)
      blocks_.at(env.block_).home = env.line_;
    else if constexpr (std::is_same_v<C, Memory>)
      blocks_.at(env.block_).memory = env.line_;
  }
  if constexpr (std::is_same_v<C, Core>)
    store_line(env, evicted_line);
  else if constexpr (std::is_same_v<C, Home>)
    store_entry(env, evicted_line, evicted_llc);
  if (freed && !unit.room.empty())
    note_wake<C>(unit, kNoBlock, Wake::room);
}

template <class P, class Client>
void System<P, Client>::store_line(EnvOf<Core> &env, bool evicted) {
  auto &unit = env.unit_;
  const auto place = unit.caches.find(env.block_);
  const bool there = static_cast<unsigned>(env.line_.state) != 0;
  if (there && !place)
    hole<Core>(env, env.message_.type, "a line appears without need(kNeedsWay)");
  if (place) {
    auto &line = unit.caches.line(place);
    const bool changed = line.state != env.line_.state;
    line = there ? env.line_ : typename Core::Line{};
    if (changed)
      tell_lost(unit, env.block_);
    if (!there && (evicted || static_cast<unsigned>(env.tbe_.state) == 0)) {
      unit.caches.remove(place);
      if (!unit.room.empty())
        note_wake<Core>(unit, kNoBlock, Wake::room);
    }
  }
  if (unit.reserved == env.block_ && !Core::readable(env.line_, env.tbe_)) {
    cancel_reservation(unit.number);
    ++statistics_.reservations_lost;
  }
}

template <class P, class Client>
void System<P, Client>::store_entry(EnvOf<Home> &env, bool evicted_line, bool evicted_llc) {
  auto &unit = env.unit_;
  bool kept = false; // by the transaction, though nothing is in it
  if constexpr (requires { Home::kTbeHoldsEntry; })
    kept = Home::kTbeHoldsEntry && static_cast<unsigned>(env.tbe_.state) != 0;
  const auto put = [&](auto &array, const auto &value, bool there, bool evicted,
                       const char *problem) {
    const auto line = array.find(env.block_);
    if (there && line == array.kNone)
      hole<Home>(env, env.message_.type, problem);
    if (line == array.kNone)
      return;
    array.payload(line) = there ? value : std::remove_cvref_t<decltype(value)>{};
    if (!there && (evicted || !kept)) {
      array.free(line);
      if (!unit.room.empty())
        note_wake<Home>(unit, kNoBlock, Wake::room);
    } else {
      array.touch(line);
    }
  };
  if constexpr (!timed::line_stays<Home>())
    put(unit.directory, env.line_, static_cast<unsigned>(env.line_.state) != 0, evicted_line,
        "an entry appears without need(kNeedsEntry)");
  put(unit.llc, env.llc_, static_cast<bool>(env.llc_), evicted_llc,
      "an LLC line appears without need(kNeedsLlc)");
}

// What the step cost, for the statistics and the energy.
template <class P, class Client>
template <class C>
void System<P, Client>::count_step(const EnvOf<C> &env, std::uint8_t event) {
  if constexpr (std::is_same_v<C, Core>) {
    if (P::kEvents[event].kind == EventKind::message || P::kEvents[event].kind == EventKind::snoop)
      ++statistics_.core.probes;
    if (P::kEvents[event].kind == EventKind::message && env.message_.has_data) {
      ++statistics_.core.fills;
      statistics_.core.core_fills += env.message_.src.is_core() ? 1 : 0;
    }
  } else if constexpr (std::is_same_v<C, Home>) {
    HomeStatistics &home = statistics_.home;
    const auto &unit = env.unit_;
    ++home.directory_reads;
    const bool message = P::kEvents[event].kind == EventKind::message;
    const auto entry = unit.directory.find(env.block_);
    const bool request = message && P::kEvents[event].vnet == Vnet::request;
    if (request) {
      ++home.requests;
      const auto line = unit.llc.find(env.block_);
      home.llc_hits += line != unit.llc.kNone && static_cast<bool>(unit.llc.payload(line)) ? 1 : 0;
      home.directory_hits += entry != unit.directory.kNone &&
                                     static_cast<unsigned>(unit.directory.payload(entry).state) != 0
                                 ? 1
                                 : 0;
    }
    if (request || (message && P::kEvents[event].vnet == Vnet::writeback))
      ++home.llc_tags;
    if (message && env.message_.has_data)
      ++home.llc_writes;
    const bool entry_after = static_cast<unsigned>(env.line_.state) != 0;
    if (entry_after || entry != unit.directory.kNone)
      ++home.directory_writes;
    if (env.filter_answer_ != 0) {
      ++home.filter_lookups;
      if (env.filter_answer_ == 2) {
        ++home.filter_hits;
        home.false_positives += blocks_.at(env.block_).member ? 0 : 1;
      }
    }
    if constexpr (timed::has_filter<P>())
      if (request) {
        const filter::Move move =
            env.unit_.policy.request(env.filter_answer_ == 2, blocks_.at(env.block_).member);
        if (move != filter::Move::none)
          env.unit_.move = move;
      }
  }
}

template <class P, class Client>
template <class C>
void System<P, Client>::note_wake(const UnitOf<C> &unit, std::uint64_t block, Wake name) {
  if (name == Wake::room ? unit.room.empty() : unit.parked.empty())
    return;
  wakes_.push_back({role_of<C>(), name, unit.number, block});
}

template <class P, class Client> void System<P, Client>::drain_wakes() {
  // Steps below append to wakes_; it is a queue.
  for (std::size_t i = 0; i < wakes_.size(); ++i) {
    const PendingWake wake = wakes_[i];
    if (wake.role == Role::core)
      retry<Core>(core_units_[wake.unit], wake.block, wake.name);
    else if (wake.role == Role::home)
      retry<Home>(home_units_[wake.unit], wake.block, wake.name);
    else
      retry<Memory>(memory_units_[wake.unit], wake.block, wake.name);
  }
  wakes_.clear();
}

// All that wait for this are tried again, in the order in which they came; those that still wait
// keep their order.
template <class P, class Client>
template <class C>
void System<P, Client>::retry(UnitOf<C> &unit, std::uint64_t block, Wake name) {
  if constexpr (!std::is_same_v<C, timed::NoController>) {
    ParkedList &list = name == Wake::room ? unit.room : unit.parked;
    batch_.clear();
    list.take(batch_, [&](const Parked &parked) {
      return parked.wake == name && (block == kNoBlock || parked.block == block);
    });
    for (const Parked &parked : batch_)
      step<C>(unit, parked.block, parked.event, parked.message, parked.access, parked.from_core,
              parked.victim);
  }
}

template <class P, class Client>
template <class C>
void System<P, Client>::remember(const EnvOf<C> &env, std::uint8_t event, unsigned line,
                                 unsigned tbe) {
  history_[history_next_++ % kHistory] = {
      now(),
      env.block_,
      role_of<C>(),
      event,
      static_cast<std::uint8_t>(line),
      static_cast<std::uint8_t>(tbe),
      static_cast<std::uint8_t>(env.line_.state),
      static_cast<std::uint8_t>(env.tbe_.state),
      static_cast<std::uint16_t>(env.unit_.number),
      env.message_,
  };
}

} // namespace tandem::machine
