// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed/system.h: what a core may do without asking, and how far; what a client is told;
// windows of reservations.
#pragma once

#include "machine/timed/system.h"

#include <algorithm>

namespace tandem::machine {

// The common case: a hit that changes nothing but the order of use, and what a store stores.
template <class P, class Client>
bool System<P, Client>::perform_quickly(timed::CoreUnit<Core> &unit, std::uint32_t line,
                                        const Request &request) {
  if (request.kind > RequestKind::atomic || !history_.empty() || !options_.serve_fast ||
      unit.transactions.find(request.block) != unit.transactions.kNone)
    return false;
  auto &payload = unit.caches.l1(request.kind == RequestKind::fetch).payload(line);
  if (access_of(request.kind) == Access::load) {
    if (!Core::readable(payload, typename Core::Tbe{}))
      return false;
    tell_perform(unit.number, request);
    return true;
  }
  if (((quick_store_ >> static_cast<unsigned>(payload.state)) & 1) == 0)
    return false;
  if (tell_perform(unit.number, request))
    payload.data.value = ++stores_ == 0 ? ++stores_ : stores_;
  return true;
}

template <class P, class Client>
Quick System<P, Client>::quick(unsigned core, std::uint64_t block, bool fetch) {
  auto &unit = core_units_[core];
  auto &l1 = unit.caches.l1(fetch);
  const auto line = l1.find(block);
  const bool stamped = l1.touch_is_stamp();
  if (line == l1.kNone || !history_.empty() || !options_.serve_fast ||
      !(stamped || l1.touch_is_nothing()) ||
      unit.transactions.find(block) != unit.transactions.kNone)
    return {};
  const auto &payload = l1.payload(line);
  Quick found;
  found.readable = Core::readable(payload, typename Core::Tbe{});
  found.writable = ((quick_store_ >> static_cast<unsigned>(payload.state)) & 1) != 0;
  if (stamped) {
    found.stamp = &l1.stamp(line);
    found.clock = &l1.stamps();
  }
  return found;
}

template <class P, class Client>
bool System<P, Client>::may_store(unsigned core, std::uint64_t block) {
  auto &unit = core_units_[core];
  auto &l1 = unit.caches.l1(false);
  const auto line = l1.find(block);
  return line != l1.kNone && unit.transactions.find(block) == unit.transactions.kNone &&
         ((quick_store_ >> static_cast<unsigned>(l1.payload(line).state)) & 1) != 0;
}

template <class P, class Client>
bool System<P, Client>::tell_perform(unsigned core, const Request &request) {
  if constexpr (requires { client_.perform(*this, core, request); })
    return client_.perform(*this, core, request);
  else
    return true;
}

template <class P, class Client>
void System<P, Client>::tell_lost(const timed::CoreUnit<Core> &unit, std::uint64_t block) {
  if constexpr (requires { client_.lost(*this, unit.number, block); })
    client_.lost(*this, unit.number, block);
}

// ------------------------------------------------------------------------------- reservations

// After a load_reserved that had to fetch its block, what would take it away again is kept from the
// core for a while, or until the store_conditional: messages are delivered later, as an unordered
// network might, and a bus is refused. One that hit opens none, or a core could keep a block for
// ever.
template <class P, class Client> void System<P, Client>::open_window(timed::CoreUnit<Core> &unit) {
  if (configuration_.core.reservation_window == 0)
    return;
  unit.window_open = true;
  unit.window_ends = now() + configuration_.core.reservation_window;
  unit.arrivals.push_back(unit.window_ends);
  schedule(unit.window_ends, {{}, unit.number, Kind::window});
}

template <class P, class Client> void System<P, Client>::close_window(timed::CoreUnit<Core> &unit) {
  unit.window_open = false;
  for (const std::uint32_t packet : unit.held)
    delivery(now() + 1, packet, unit.number);
  unit.held.clear();
}

template <class P, class Client>
bool System<P, Client>::holds_back(const timed::CoreUnit<Core> &unit,
                                   const Message &message) const {
  const Vnet vnet = P::kEvents[message.type].vnet;
  return unit.window_open && unit.reserved == message.block &&
         (vnet == Vnet::forward || vnet == Vnet::request);
}

template <class P, class Client> void System<P, Client>::cancel_reservation(unsigned core) {
  auto &unit = core_units_[core];
  unit.reserved.reset();
  if (unit.window_open)
    close_window(unit);
}

// ------------------------------------------------------------------------------ running ahead

template <class P, class Client> void System<P, Client>::arrived(timed::CoreUnit<Core> &unit) {
  const auto found = std::find(unit.arrivals.begin(), unit.arrivals.end(), now());
  CHECK(found != unit.arrivals.end(), "an arrival at core {} was not foreseen", unit.number);
  *found = unit.arrivals.back();
  unit.arrivals.pop_back();
}

// An event puts a packet on its way to a core in no less than a router and a flit; on a bus, and
// without time, a message takes a cycle.
template <class P, class Client> Cycle System<P, Client>::horizon(unsigned core) const {
  const Cycle next = wheel_.next_time();
  const Cycle step = step_cycles();
  Cycle bound = next > kNever - step ? kNever : next + step;
  for (const Cycle at : core_units_[core].arrivals)
    bound = std::min(bound, at);
  return P::kBus && grant_planned_ ? std::min(bound, grant_at_) : bound;
}

template <class P, class Client> Cycle System<P, Client>::issue_cycles() const {
  if (fast_)
    return 1;
  return configuration_.l2.latency +
         (P::kBus ? configuration_.bus.snoop_cycles : configuration_.network.router_cycles + 1);
}

} // namespace tandem::machine
