// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed/system.h: room in the arrays. A row that needs a way reserves it before it runs: a
// line with state 0 that its transaction keeps. Where a set is full, the replacement policy's
// victim is evicted by its own table; where that takes messages, the event waits, and remembers for
// which victim, so that it asks for no second one.
#pragma once

#include "machine/timed/system.h"

namespace tandem::machine {

template <class P, class Client>
template <class C>
bool System<P, Client>::make_room(EnvOf<C> &env, unsigned needs, std::uint64_t &waits_for) {
  if constexpr (std::is_same_v<C, Core>) {
    if ((needs & kNeedsWay) != 0 && !room_for_way(env, waits_for))
      return false;
  } else if constexpr (std::is_same_v<C, Home> && kHasHome) {
    if constexpr (requires { Event::dir_evict; } && !timed::line_stays<Home>())
      if ((needs & kNeedsEntry) != 0 &&
          !room_in(env, env.unit_.directory, static_cast<std::uint8_t>(Event::dir_evict),
                   waits_for))
        return false;
    if constexpr (requires { Event::llc_evict; })
      if ((needs & kNeedsLlc) != 0 &&
          !room_in(env, env.unit_.llc, static_cast<std::uint8_t>(Event::llc_evict), waits_for))
        return false;
  }
  return true;
}

template <class P, class Client>
bool System<P, Client>::room_for_way(EnvOf<Core> &env, std::uint64_t &waits_for) {
  auto &unit = env.unit_;
  if (unit.caches.find(env.block_))
    return true;
  if (waits_for != kNoBlock && unit.caches.find(waits_for) &&
      unit.transactions.find(waits_for) != unit.transactions.kNone)
    return false;
  const bool fetch =
      env.access_ != kNoAccess && accesses_[env.access_].request.kind == RequestKind::fetch;
  waits_for = kNoBlock;
  return static_cast<bool>(admit(unit, env.block_, fetch, waits_for));
}

template <class P, class Client>
auto System<P, Client>::admit(timed::CoreUnit<Core> &unit, std::uint64_t block, bool fetch,
                              std::uint64_t &waits_for) ->
    typename PrivateCaches<typename Core::Line>::Place {
  const auto event = static_cast<std::uint8_t>(Event::evict);
  return unit.caches.admit(
      block, fetch,
      [&](std::uint64_t victim, const typename Core::Line &line) {
        return may_give_way<Core>(unit, victim, event, quick_evict_,
                                  static_cast<unsigned>(line.state));
      },
      [&](std::uint64_t victim) {
        evict<Core>(unit, victim, event);
        ++statistics_.core.evictions;
        return !unit.caches.find(victim);
      },
      [&](std::uint64_t moved) { tell_lost(unit, moved); }, waits_for);
}

// Whether the block's table takes an eviction now.
template <class P, class Client>
template <class C>
bool System<P, Client>::may_give_way(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event,
                                     std::uint32_t quick, unsigned state) {
  if (((quick >> state) & 1) != 0 && unit.transactions.find(block) == unit.transactions.kNone)
    return true;
  Message message;
  message.type = event;
  message.block = block;
  EnvOf<C> env(*this, unit, block, message, kNoAccess);
  load_state<C>(env);
  const RowOf<C> *row = tables_of<C>().dispatch.find(env, event);
  return row != nullptr && row->kind == RowKind::step;
}

template <class P, class Client>
template <class C>
void System<P, Client>::evict(UnitOf<C> &unit, std::uint64_t block, std::uint8_t event) {
  Message message;
  message.type = event;
  message.block = block;
  message.src = unit.node;
  if constexpr (std::is_same_v<C, Core>)
    tell_evicted(unit.number, block);
  step<C>(unit, block, event, message, kNoAccess, false);
}

template <class P, class Client>
template <class Array>
typename Array::Index System<P, Client>::victim_in(EnvOf<Home> &env, Array &array,
                                                   std::uint8_t event) {
  auto &unit = env.unit_;
  const auto usable = [&](typename Array::Index line) {
    const auto &payload = array.payload(line);
    bool there;
    if constexpr (requires { static_cast<unsigned>(payload.state); } &&
                  !std::is_same_v<Array, decltype(unit.llc)>)
      there = static_cast<unsigned>(payload.state) != 0;
    else
      there = static_cast<bool>(payload);
    return there && array.block(line) != env.block_ &&
           may_give_way<Home>(unit, array.block(line), event, 0, 0);
  };
  // A line of the LLC with all tokens leaves without asking anybody (PROTOCOLS: "LLC victim choice
  // prefers lines with L=T").
  if constexpr (std::is_same_v<Array, decltype(unit.llc)> &&
                requires { static_cast<unsigned>(array.payload(0).tokens); })
    if (const auto line = array.victim(env.block_,
                                       [&](typename Array::Index at) {
                                         return array.payload(at).tokens == tokens_ && usable(at);
                                       });
        line != array.kNone)
      return line;
  return array.victim(env.block_, usable);
}

// A line of `array` for the block; `event` evicts another one there.
template <class P, class Client>
template <class Array>
bool System<P, Client>::room_in(EnvOf<Home> &env, Array &array, std::uint8_t event,
                                std::uint64_t &waits_for) {
  auto &unit = env.unit_;
  if (array.find(env.block_) != array.kNone)
    return true;
  auto line = array.free_line(env.block_);
  if (line == array.kNone) {
    if (waits_for != kNoBlock && array.find(waits_for) != array.kNone &&
        unit.transactions.find(waits_for) != unit.transactions.kNone)
      return false;
    waits_for = kNoBlock;
    const auto victim = victim_in(env, array, event);
    if (victim == array.kNone)
      return false;
    const std::uint64_t leaving = array.block(victim);
    if constexpr (requires { Event::dir_evict; })
      ++(event == static_cast<std::uint8_t>(Event::dir_evict) ? statistics_.home.directory_evictions
                                                              : statistics_.home.llc_evictions);
    evict<Home>(unit, leaving, event);
    line = array.free_line(env.block_);
    if (line == array.kNone) {
      waits_for = leaving;
      return false;
    }
  }
  array.fill(line, env.block_);
  array.payload(line) = {};
  return true;
}

// Silently, by the table: no entry of the last way that is used stays. False if one had to.
template <class P, class Client> bool System<P, Client>::empty_way(timed::HomeUnit<Home> &unit) {
  auto &array = unit.directory;
  const std::uint32_t ways = array.shape().ways;
  const std::uint32_t way = array.usable_ways() - 1;
  const auto event = static_cast<std::uint8_t>(Event::dir_evict);
  for (std::uint32_t set = 0; set < array.shape().sets; ++set) {
    const auto line = static_cast<typename std::remove_cvref_t<decltype(array)>::Index>(
        std::size_t{set} * ways + way);
    if (!array.in_use(line))
      continue;
    if (!may_give_way<Home>(unit, array.block(line), event, 0, 0))
      return false;
    evict<Home>(unit, array.block(line), event);
    if (array.in_use(line))
      return false;
  }
  return true;
}

// Moves a way between the directory and the filter of a slice, as its policy has decided. A
// sub-table is given up bucket by bucket, one with each message that the slice takes; a way at
// once, by dropping its entries. At least one of each stays.
template <class P, class Client>
void System<P, Client>::repartition(timed::HomeUnit<Home> &unit, filter::Move move) {
  filter::DLeft &tables = unit.filter->d_left();
  auto &array = unit.directory;
  if (unit.draining) {
    if (tables.drain_step(*unit.draining)) {
      unit.draining.reset();
      array.use_ways(array.usable_ways() + 1);
      ++statistics_.home.ways_to_directory;
    }
    return;
  }
  if (move == filter::Move::to_directory && tables.active() > 1) {
    unsigned last = 0;
    for (unsigned i = 0; i < filter::kMaxSubTables; ++i)
      if (tables.state(i) == filter::SubTable::active)
        last = i;
    tables.begin_drain(last);
    unit.draining = last;
  } else if (move == filter::Move::to_filter && array.usable_ways() > 1 && empty_way(unit)) {
    unsigned first = 0;
    while (tables.state(first) != filter::SubTable::lent)
      ++first;
    array.use_ways(array.usable_ways() - 1);
    tables.adopt(first);
    ++statistics_.home.ways_to_filter;
  }
  if (!wakes_.empty())
    drain_wakes();
}

// The filter's cell of a block is full: the core gives up the blocks that share it. The table
// answers the message for the block itself; the others leave as if their ways were wanted.
template <class P, class Client>
void System<P, Client>::purge(timed::CoreUnit<Core> &unit, const Message &message) {
  if constexpr (requires { Event::purge; }) {
    const auto &filter = home_units_[home_of(message.block)].filter;
    std::vector<std::uint64_t> leaving; // rare: a counter was full
    const auto look = [&](auto &array) {
      for (std::uint32_t line = 0; line < array.lines(); ++line)
        if (array.in_use(line) && array.block(line) != message.block &&
            home_of(array.block(line)) == home_of(message.block) &&
            filter->purged_with(message.block, array.block(line)))
          leaving.push_back(array.block(line));
    };
    look(unit.caches.l1(false));
    look(unit.caches.l1(true));
    look(unit.caches.l2());
    const auto event = static_cast<std::uint8_t>(Event::evict);
    for (const std::uint64_t block : leaving)
      if (unit.caches.find(block) && may_give_way<Core>(unit, block, event, 0, 0))
        evict<Core>(unit, block, event);
  }
}

} // namespace tandem::machine
