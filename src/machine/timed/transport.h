// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed/system.h: messages from controller to controller, over the mesh or the bus.
#pragma once

#include "machine/timed/system.h"

namespace tandem::machine {

template <class P, class Client>
std::uint32_t System<P, Client>::take_packet(const Message &message) {
  std::uint32_t at = free_packet_;
  if (at != ~std::uint32_t{0}) {
    free_packet_ = packets_[at].next;
  } else {
    at = static_cast<std::uint32_t>(packets_.size());
    packets_.emplace_back();
  }
  packets_[at] = {message, 0, 1, 0, 0};
  return at;
}

template <class P, class Client> void System<P, Client>::drop_packet(std::uint32_t packet) {
  if (--packets_[packet].left != 0)
    return;
  packets_[packet].next = free_packet_;
  free_packet_ = packet;
}

template <class P, class Client>
template <class C>
void System<P, Client>::send(const UnitOf<C> &unit, const Message &message, bool from_core) {
  CHECK(!message.dst.is_none(), "{} sends {} to nobody", C::kName, P::kEvents[message.type].name);
  ++statistics_.messages[message.type];
  ++statistics_.deliveries[message.type];
  depart<C>(unit, take_packet(message), from_core);
}

template <class P, class Client>
template <class C>
void System<P, Client>::multicast(const UnitOf<C> &unit, CoreSet to, const Message &message,
                                  bool from_core) {
  const unsigned targets = to.size();
  ++statistics_.messages[message.type];
  statistics_.deliveries[message.type] += targets;
  statistics_.broadcasts += targets >= 2 && targets + 1 >= cores() ? 1 : 0;
  const std::uint32_t packet = take_packet(message);
  packets_[packet].targets = to.bits;
  packets_[packet].left = targets;
  depart<C>(unit, packet, from_core);
}

// When what a step sends leaves its controller.
template <class P, class Client>
template <class C>
Cycle System<P, Client>::departure(const UnitOf<C> &unit, bool has_data, bool from_core) {
  if constexpr (std::is_same_v<C, Core>) {
    statistics_.core.data_reads += has_data ? 1 : 0;
    return now() + configuration_.l2.latency + (from_core ? configuration_.l1d.latency : 0);
  } else if constexpr (std::is_same_v<C, Home>) {
    statistics_.home.llc_reads += has_data ? 1 : 0;
    return now() + (has_data ? configuration_.llc.latency : configuration_.directory.latency);
  } else {
    return has_data ? channel(memory_units_[unit.number]) : now() + 1;
  }
}

// A read of DRAM: the channel is taken for the block's transfer, in the order of requests.
template <class P, class Client> Cycle System<P, Client>::channel(timed::MemoryUnit<Memory> &unit) {
  const std::uint64_t start = std::max(now() * 256, unit.channel_free);
  // Cycles of a block on the channel, times 256: bytes * MHz / (MB/s).
  unit.channel_free = start + std::uint64_t{kBlockBytes} * 256 * configuration_.clock_mhz /
                                  configuration_.memory.bandwidth_mb_per_s;
  ++statistics_.memory.reads;
  statistics_.memory.queue_cycles += start / 256 - now();
  return start / 256 + configuration_.memory.latency;
}

template <class P, class Client>
template <class C>
void System<P, Client>::depart(const UnitOf<C> &unit, std::uint32_t packet, bool from_core) {
  const Message &message = packets_[packet].message;
  packets_[packet].tile = unit.tile;
  if (fast_) {
    deliver_at(now() + 1, packet);
    return;
  }
  if constexpr (std::is_same_v<C, Memory>)
    if (message.has_data)
      memory_read(message.block) = {message.block, now()};
  Cycle at = departure<C>(unit, message.has_data, from_core);
  if (configuration_.network.jitter != 0)
    at += random() % (configuration_.network.jitter + 1);
  schedule(at, {{}, packet, Kind::inject});
}

// Where a message for one goes.
template <class P, class Client>
std::uint32_t System<P, Client>::tile_of(const Message &message) const {
  if (message.dst == Node::home())
    return P::kBus ? 0 : home_units_[home_of(message.block)].tile;
  if (message.dst == Node::memory())
    return memory_units_[controller_of(message.block)].tile;
  return message.dst.id;
}

// To all targets at the same time, without a network.
template <class P, class Client>
void System<P, Client>::deliver_at(Cycle at, std::uint32_t packet) {
  const Packet &sent = packets_[packet];
  if (sent.targets == 0) {
    delivery(at, packet, tile_of(sent.message));
    return;
  }
  for (std::uint64_t rest = sent.targets; rest != 0; rest &= rest - 1)
    delivery(at, packet, static_cast<std::uint32_t>(std::countr_zero(rest)));
}

template <class P, class Client> void System<P, Client>::inject(std::uint32_t packet) {
  const Packet &sent = packets_[packet];
  const Message &message = sent.message;
  if constexpr (P::kBus) {
    Cycle at = now() + 1;
    if (message.has_data) {
      const Cycle start = std::max(now(), data_bus_free_);
      statistics_.bus.data_wait_cycles += start - now();
      ++statistics_.bus.data_blocks;
      data_bus_free_ = start + kBlockBytes / configuration_.bus.data_bytes;
      at = data_bus_free_;
    } else {
      ++statistics_.bus.control_messages;
    }
    deliver_at(at, packet);
  } else {
    std::uint64_t tiles = sent.targets;
    if (tiles == 0)
      tiles = std::uint64_t{1} << tile_of(message);
    mesh_.inject(*this, now(), sent.tile, packet, tiles,
                 message.has_data ? configuration_.data_flits() : 1,
                 static_cast<std::uint32_t>(P::kEvents[message.type].vnet));
  }
}

template <class P, class Client>
void System<P, Client>::deliver(std::uint32_t packet, std::uint32_t tile) {
  Message message = packets_[packet].message;
  if (packets_[packet].targets != 0)
    message.dst = Node::core(tile);
  if (message.dst.is_core()) {
    auto &unit = core_units_[message.dst.id];
    arrived(unit);
    if (holds_back(unit, message)) {
      unit.held.push_back(packet);
      return;
    }
  }
  drop_packet(packet);
  receive(message);
}

template <class P, class Client> void System<P, Client>::receive(const Message &message) {
  if (message.dst.is_core()) {
    handle<Core>(core_units_[message.dst.id], message.block, message.type, message, kNoAccess,
                 false);
    if constexpr (requires { Event::purge; })
      if (message.type == static_cast<std::uint8_t>(Event::purge))
        purge(core_units_[message.dst.id], message);
  } else if (message.dst == Node::home()) {
    if constexpr (kHasHome) {
      auto &unit = home_units_[home_of(message.block)];
      handle<Home>(unit, message.block, message.type, message, kNoAccess, false);
      if constexpr (timed::has_filter<P>())
        if (unit.move != filter::Move::none || unit.draining)
          repartition(unit, std::exchange(unit.move, filter::Move::none));
    }
  } else if constexpr (kHasMemory) {
    auto &unit = memory_units_[controller_of(message.block)];
    if (message.has_data) { // a write: it takes its turn on the channel, nobody waits for it
      ++statistics_.memory.writes;
      unit.channel_free = std::max(now() * 256, unit.channel_free) +
                          std::uint64_t{kBlockBytes} * 256 * configuration_.clock_mhz /
                              configuration_.memory.bandwidth_mb_per_s;
    }
    handle<Memory>(unit, message.block, message.type, message, kNoAccess, false);
  }
}

// ------------------------------------------------------------------------------------------- bus

// What a core's own access or eviction wants of the bus, it wants after the lookup of its L2, an
// access after that of its L1 too; in a grant, at once.
template <class P, class Client>
void System<P, Client>::ask_for_bus(unsigned core, std::uint64_t block, std::uint8_t event) {
  const EventKind kind = P::kEvents[event].kind;
  bool own = kind == EventKind::core || kind == EventKind::spontaneous;
  if constexpr (requires { Event::grant; })
    own = own && event != static_cast<std::uint8_t>(Event::grant);
  if (fast_ || !own) {
    request_bus(core, block);
    return;
  }
  Hop what;
  what.targets = block;
  const Cycle lookups =
      configuration_.l2.latency + (kind == EventKind::core ? configuration_.l1d.latency : 0);
  schedule(now() + lookups, {what, core, Kind::bus_request});
}

template <class P, class Client>
void System<P, Client>::request_bus(unsigned core, std::uint64_t block) {
  const BusRequest request{now(), block, core};
  if (lines_.nack) {
    come_again(request);
    return;
  }
  bus_queue_.push_back(request);
  plan_grant();
}

// Refused just now: not again at once, or the retries would fill the bus.
template <class P, class Client> void System<P, Client>::come_again(const BusRequest &request) {
  if (std::none_of(refused_.begin(), refused_.end(), [&](const BusRequest &each) {
        return each.block == request.block && each.core == request.core;
      }))
    refused_.push_back(request); // else it keeps its place
  ++statistics_.bus.refused;
  Hop what;
  what.targets = request.block;
  schedule(now() + configuration_.bus.retry_cycles, {what, request.core, Kind::bus_request});
}

// One address transaction a slot; all caches have answered when the snoop latency is over.
template <class P, class Client> void System<P, Client>::plan_grant() {
  if (grant_planned_ || bus_queue_.empty())
    return;
  grant_planned_ = true;
  const Cycle start = std::max(now() + configuration_.bus.snoop_cycles, bus_free_);
  bus_free_ = start + configuration_.bus.slot_cycles;
  grant_at_ = start;
  schedule(start, {{}, 0, Kind::grant});
}

template <class P, class Client> void System<P, Client>::grant_bus() {
  grant_planned_ = false;
  const BusRequest request = bus_queue_.front();
  bus_queue_.erase(bus_queue_.begin());
  const auto first = std::find_if(refused_.begin(), refused_.end(), [&](const BusRequest &each) {
    return each.block == request.block;
  });
  if (first != refused_.end() && first->core != request.core) {
    come_again(request);
    plan_grant();
    return;
  }
  const bool was_refused = first != refused_.end();
  if constexpr (requires { Event::grant; }) {
    Message message;
    message.type = static_cast<std::uint8_t>(Event::grant);
    message.block = request.block;
    lines_ = {};
    if (request.core >= kDeviceOnBus) {
      grant_device(request);
    } else {
      message.src = message.dst = Node::core(request.core);
      handle<Core>(core_units_[request.core], request.block, message.type, message, kNoAccess,
                   false);
    }
    if (was_refused && (!lines_.nack || lines_.conflict)) // it is the first of its block
      refused_.erase(std::find_if(refused_.begin(), refused_.end(), [&](const BusRequest &each) {
        return each.block == request.block;
      }));
    lines_ = {};
    ++statistics_.bus.grants;
    statistics_.bus.wait_cycles += now() - request.since;
  }
  plan_grant();
}

// Where memory or a core refuses the device, it asks again like a core.
template <class P, class Client> void System<P, Client>::grant_device(const BusRequest &request) {
  if constexpr (P::kBus) {
    Message message;
    message.type = static_cast<std::uint8_t>(request.core - kDeviceOnBus);
    message.block = request.block;
    message.src = message.dst = Node::memory();
    auto &unit = memory_units_[controller_of(request.block)];
    if (may_give_way<Memory>(unit, request.block, message.type, 0, 0))
      handle<Memory>(unit, request.block, message.type, message, kNoAccess, false);
    else
      lines_.nack = true;
    if (lines_.nack)
      request_bus(request.core, request.block);
  }
}

// Which of the cores' transactions win against what the requester waits for. The request of a
// write-back, of a device, or of a store-conditional that must fail is no transaction's.
template <class P, class Client>
std::uint64_t System<P, Client>::refused_by(Node requester, std::uint64_t block,
                                            std::uint64_t asked) {
  asked_ = false;
  if constexpr (kRefuses) {
    if (!requester.is_core() || !protocol_.transactions)
      return 0;
    const auto &unit = core_units_[requester.id];
    const std::uint32_t at = unit.transactions.find(block);
    const AccessId id = at == unit.transactions.kNone ? kNoAccess : unit.transactions[at].access;
    if (id == kNoAccess ||
        (accesses_[id].request.kind == RequestKind::store_conditional && unit.reserved != block))
      return 0;
    asked_ = true;
    return client_.refusing(*this, requester.id, Request(accesses_[id].request), asked);
  }
  return 0;
}

template <class P, class Client> void System<P, Client>::tell_outcome(Node self) {
  refusing_ = 0;
  if constexpr (kRefuses)
    if (asked_ && !lines_.conflict && !lines_.nack)
      client_.prevailed(*this, self.id);
}

// All other cores, then memory, hear `event`; nothing runs if one of them refuses.
template <class P, class Client>
void System<P, Client>::snoop(Node self, std::uint64_t block, std::uint8_t event) {
  lines_ = {};
  // Decided once for each grant, before the tables are asked.
  refusing_ = refused_by(self, block, ~std::uint64_t{0});
  Message message;
  message.type = event;
  message.block = block;
  message.src = message.requester = self;
  const auto ask = [&]<class C>(UnitOf<C> &unit) {
    if constexpr (std::is_same_v<C, Core>)
      if (unit.window_open && unit.reserved == block) {
        lines_.nack = true;
        return;
      }
    EnvOf<C> env(*this, unit, block, message, kNoAccess);
    load_state<C>(env);
    const RowOf<C> *row = tables_of<C>().dispatch.find(env, event);
    if (row == nullptr)
      hole<C>(env, event, "no row");
    if (row->kind == RowKind::nack || row->kind == RowKind::refuse) {
      ++tables_of<C>().taken[tables_of<C>().dispatch.index(*row)];
      (row->kind == RowKind::nack ? lines_.nack : lines_.conflict) = true;
    }
  };
  for (unsigned core = 0; core < cores(); ++core)
    if (Node::core(core) != self)
      ask.template operator()<Core>(core_units_[core]);
  if constexpr (kHasMemory)
    if (self != Node::memory())
      ask.template operator()<Memory>(memory_units_[controller_of(block)]);
  tell_outcome(self);
  if (lines_.nack || lines_.conflict)
    return;
  for (unsigned core = 0; core < cores(); ++core)
    if (Node::core(core) != self)
      if (step<Core>(core_units_[core], block, event, message, kNoAccess, false) ==
          Progress::parked)
        fail("a snoop waits", block);
  if constexpr (kHasMemory)
    if (self != Node::memory() && step<Memory>(memory_units_[controller_of(block)], block, event,
                                               message, kNoAccess, false) == Progress::parked)
      fail("a snoop waits", block);
}

// ----------------------------------------------------------------------------------------- timers

// Twice the core's mean miss latency, and up to as much again at random: TokenB's reissue time
// (Martin et al., ISCA 2003), with the average kept as gem5 keeps it.
template <class P, class Client>
template <class U>
void System<P, Client>::arm_timer(U &unit, std::uint64_t block) {
  Cycle mean = configuration_.memory.latency;
  if constexpr (requires { unit.mean_miss; })
    mean = std::max<Cycle>(unit.mean_miss / 256, 20);
  const Cycle delay = 2 * mean + random() % (mean + 1);
  // The transaction that it is for: found again by when it began.
  const std::uint32_t at = unit.transactions.find(block);
  Hop what;
  what.targets = block;
  what.packet = static_cast<std::uint32_t>(
      at == unit.transactions.kNone ? now() : unit.transactions[at].since);
  what.age = unit.node.id;
  if constexpr (requires { unit.arrivals; })
    unit.arrivals.push_back(now() + delay);
  schedule(now() + delay, {what, unit.number, Kind::timer});
}

} // namespace tandem::machine
