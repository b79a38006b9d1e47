// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed/system.h: construction, the port of the cores, the event loop, what is said of a
// failure.
#pragma once

#include "machine/timed/system.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>
#include <string_view>

namespace tandem::machine {

template <class P, class Client>
System<P, Client>::System(const Configuration &configuration, const typename P::Config &protocol,
                          const SystemOptions &options, Client &client)
    : configuration_(configuration), protocol_(protocol), options_(options),
      tokens_(options.tokens != 0 ? options.tokens : timed::usual_tokens<P>(configuration.cores)),
      slices_(configuration.slices()), client_(client), mesh_(configuration.mesh()), blocks_([&] {
        Record fresh;
        if constexpr (timed::line_stays<Home>() && requires { Home::initial(1U, Data{1}); })
          fresh.home = Home::initial(tokens_, Data{1});
        if constexpr (requires { Memory::initial(1U, Data{1}); })
          fresh.memory = Memory::initial(tokens_, Data{1});
        return fresh;
      }()),
      random_state_(options.seed) {
  core_units_.reserve(configuration.cores);
  home_units_.reserve(slices_);
  memory_units_.reserve(configuration.memory.controllers);
  const std::uint32_t filter_ways = timed::has_filter<P>() ? configuration.filter.sub_tables : 0;
  for (std::uint32_t i = 0; i < configuration.cores; ++i) {
    core_units_.emplace_back(configuration);
    core_units_[i].node = Node::core(i);
    core_units_[i].tile = core_units_[i].number = i;
    core_units_[i].mean_miss = configuration.memory.latency * 256;
  }
  for (std::uint32_t i = 0; kHasHome && i < slices_; ++i) {
    const bool moves = timed::has_filter<P>() && configuration.filter.repartition_interval != 0;
    home_units_.emplace_back(ArrayShape{configuration.directory_sets(),
                                        configuration.directory.ways - (moves ? 0 : filter_ways),
                                        configuration.directory.replacement, slices_},
                             ArrayShape{configuration.llc.sets(), configuration.llc.ways,
                                        configuration.llc.replacement, slices_});
    auto &unit = home_units_[i];
    unit.node = Node::home();
    unit.number = i;
    unit.tile = configuration.slice_tile(i);
    if (timed::has_filter<P>())
      unit.filter.emplace(timed::filter_parameters(
          configuration, options.seed, options.check_values, timed::spill_groups<P>(protocol_)));
    if (moves) {
      unit.policy = filter::PartitionPolicy(configuration.filter.repartition_interval);
      unit.directory.use_ways(configuration.directory.ways - filter_ways);
    }
  }
  for (std::uint32_t i = 0; kHasMemory && i < configuration.memory.controllers; ++i) {
    memory_units_.emplace_back();
    memory_units_[i].node = Node::memory();
    memory_units_[i].tile = P::kBus ? 0 : configuration.controller_tile(i);
    memory_units_[i].number = i;
  }
  // What usually suffices; all of these keep the largest size that they ever needed.
  packets_.reserve(4096);
  accesses_.reserve(4096);
  wakes_.reserve(256);
  batch_.reserve(256);
  bus_queue_.reserve(1024);
  devices_.reserve(64);
  refused_.reserve(256);
  if (options.check_values)
    history_.resize(kHistory);
  prepare_tables();
  reset_statistics();
}

template <class P, class Client> void System<P, Client>::prepare_tables() {
  core_tables_.dispatch.configure(protocol_);
  core_tables_.taken.assign(core_tables_.dispatch.rows().size(), 0);
  if constexpr (kHasHome) {
    home_tables_.dispatch.configure(protocol_);
    home_tables_.taken.assign(home_tables_.dispatch.rows().size(), 0);
  }
  if constexpr (kHasMemory) {
    memory_tables_.dispatch.configure(protocol_);
    memory_tables_.taken.assign(memory_tables_.dispatch.rows().size(), 0);
  }
  // States that give way without a look: the first row that matches has no guard, and is a step.
  const auto off = [this](const RowOf<Core> &row) {
    return row.option != nullptr && !(protocol_.*row.option);
  };
  std::uint32_t seen = 0;
  for (const RowOf<Core> &row : core_tables_.dispatch.rows()) {
    if (off(row) || row.event != static_cast<std::uint8_t>(Event::evict) || (row.tbes & 1) == 0)
      continue;
    if (row.guards_used == 0 && row.kind == RowKind::step)
      quick_evict_ |= row.lines & ~seen;
    seen |= row.lines;
  }
  // States in which a store is nothing but that, by the first row that is tried.
  seen = 0;
  for (const RowOf<Core> &row : core_tables_.dispatch.rows()) {
    if (off(row) || row.event != static_cast<std::uint8_t>(Event::store) || (row.tbes & 1) == 0)
      continue;
    const bool stores_only = row.guards_used == 0 && row.kind == RowKind::step && row.needs == 0 &&
                             row.actions_used == 1 &&
                             std::string_view(row.actions[0]->name) == "store" && row.next_tbe <= 0;
    for (std::uint32_t rest = row.lines & ~seen; stores_only && rest != 0; rest &= rest - 1) {
      const int state = std::countr_zero(rest);
      if (row.next_line == RowOf<Core>::kSame || row.next_line == state)
        quick_store_ |= std::uint32_t{1} << state;
    }
    seen |= row.lines;
  }
}

template <class P, class Client> void System<P, Client>::reset_statistics() {
  statistics_ = {};
  statistics_.messages.assign(std::size(P::kEvents), 0);
  statistics_.deliveries.assign(std::size(P::kEvents), 0);
  mesh_.reset_statistics();
  measured_from_ = now();
}

template <class P, class Client> void System<P, Client>::fast_forward(bool on) {
  fast_ = on;
  // What was learnt of latencies without time is nothing.
  for (auto &unit : core_units_)
    unit.mean_miss = configuration_.memory.latency * 256;
}

template <class P, class Client>
template <class C>
const std::vector<std::uint64_t> &System<P, Client>::coverage() const {
  return const_cast<System *>(this)->tables_of<C>().taken;
}

template <class P, class Client>
template <class C>
auto System<P, Client>::table() const -> const Dispatch<EnvOf<C>, C> & {
  return const_cast<System *>(this)->tables_of<C>().dispatch;
}

template <class P, class Client> double System<P, Client>::mean_sub_tables() const {
  double tables = 0;
  for (const auto &unit : home_units_)
    if (unit.filter && unit.filter->d_left_or_null() != nullptr)
      tables += unit.filter->d_left_or_null()->active();
  return home_units_.empty() ? 0 : tables / static_cast<double>(home_units_.size());
}

template <class P, class Client> double System<P, Client>::mean_filter_members() const {
  double members = 0;
  for (const auto &unit : home_units_)
    members += unit.filter ? static_cast<double>(unit.filter->members()) : 0.0;
  return home_units_.empty() ? 0 : members / static_cast<double>(home_units_.size());
}

template <class P, class Client> double System<P, Client>::mean_filter_spilled() const {
  double spilled = 0;
  for (const auto &unit : home_units_)
    if (unit.filter && unit.filter->d_left_or_null() != nullptr)
      spilled += static_cast<double>(unit.filter->d_left_or_null()->spilled());
  return home_units_.empty() ? 0 : spilled / static_cast<double>(home_units_.size());
}

// splitmix64
template <class P, class Client> std::uint64_t System<P, Client>::random() {
  std::uint64_t z = (random_state_ += 0x9e3779b97f4a7c15ULL);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return z ^ (z >> 31);
}

// ------------------------------------------------------------------------------------- the cores

template <class P, class Client>
AccessId System<P, Client>::take_access(unsigned core, const Request &request) {
  AccessId id = free_access_;
  if (id != kNoAccess) {
    free_access_ = accesses_[id].next;
  } else {
    id = static_cast<AccessId>(accesses_.size());
    accesses_.emplace_back();
  }
  accesses_[id] = {request, now(), static_cast<std::uint16_t>(core), true, false, {}, kNoAccess};
  ++pending_;
  return id;
}

template <class P, class Client> void System<P, Client>::release_access(AccessId id) {
  accesses_[id].next = free_access_;
  free_access_ = id;
  --pending_;
}

template <class P, class Client>
Outcome System<P, Client>::access(unsigned core, const Request &request) {
  using Caches = timed::CoreUnit<Core>;
  Caches &unit = core_units_[core];
  const bool fetch = request.kind == RequestKind::fetch;
  const Access access = access_of(request.kind);
  const Cycle first = fetch ? configuration_.l1i.latency : configuration_.l1d.latency;
  CoreStatistics &counts = statistics_.core;
  // A store-conditional that must fail sends no request: it would take the block from one that can
  // succeed.
  if (request.kind == RequestKind::store_conditional && unit.reserved != request.block) {
    cancel_reservation(core);
    ++statistics_.conditional_failures;
    return {true, {request.tag, request.kind, false, request.block, 0, first}};
  }
  const bool stores = access == Access::store && request.kind != RequestKind::load_reserved;
  ++(fetch ? counts.fetches : stores ? counts.stores : counts.loads);
  auto &l1 = unit.caches.l1(fetch);
  const auto line = l1.find(request.block);
  if (line != l1.kNone) {
    l1.touch(line);
    if (perform_quickly(unit, line, request)) {
      ++counts.l1_hits;
      return {true,
              {request.tag, request.kind, true, request.block, l1.payload(line).data.value, first}};
    }
  }
  Cycle latency = first;
  const auto place = unit.caches.find(request.block);
  if (place && line == l1.kNone) {
    latency += configuration_.l2.latency;
    std::uint64_t waits_for = kNoBlock;
    // To the L1 where it is used, unless its transaction or a full set keeps it where it is.
    if (place.level == decltype(place.level)::l2 &&
        static_cast<unsigned>(unit.caches.line(place).state) != 0)
      admit(unit, request.block, fetch, waits_for);
  }
  const AccessId id = take_access(core, request);
  Message message;
  message.type = static_cast<std::uint8_t>(access == Access::load ? Event::load : Event::store);
  message.block = request.block;
  message.src = message.dst = unit.node;
  const std::size_t transactions = unit.transactions.size();
  handle<Core>(unit, request.block, message.type, message, id, true);
  if (!accesses_[id].performed) {
    if (unit.transactions.size() > transactions) {
      ++counts.misses;
      std::uint8_t &by = blocks_.at(request.block).missed_by;
      missed_blocks_ += by == 0 ? 1 : 0;
      shared_blocks_ += by != 0 && by != kSeveral && by != core + 1 ? 1 : 0;
      by = by == 0 || by == core + 1 ? static_cast<std::uint8_t>(core + 1) : kSeveral;
      counts.shared_misses += by == kSeveral ? 1 : 0;
    } else {
      ++counts.merged;
    }
    accesses_[id].direct = false;
    return {};
  }
  ++(line != l1.kNone ? counts.l1_hits : counts.l2_hits);
  Outcome outcome{true, accesses_[id].done};
  outcome.done.latency = latency;
  release_access(id);
  return outcome;
}

template <class P, class Client>
void System<P, Client>::perform(timed::CoreUnit<Core> &unit, std::uint64_t block, Access access,
                                Data &data, AccessId id, bool from_core) {
  if (id == kNoAccess)
    fail(fmt::format("{} performs an access that nobody asked for", unit_name<Core>(unit)), block);
  Pending &pending = accesses_[id];
  const RequestKind kind = pending.request.kind;
  if (access != access_of(kind) || pending.request.block != block)
    fail(fmt::format("{} performs a {} for a {}", unit_name<Core>(unit),
                     access == Access::load ? "load" : "store",
                     access_of(kind) == Access::load ? "load" : "store"),
         block);
  bool succeeded = true;
  if (options_.check_values) {
    const std::uint32_t last = blocks_.at(block).last_store;
    if (data.value != last)
      fail(fmt::format("data value: {} sees store {} of block {:#x}, but the last was {}",
                       unit_name<Core>(unit), data.value, block, last),
           block);
  }
  if (kind == RequestKind::store_conditional)
    succeeded = unit.reserved == block;
  if (succeeded)
    succeeded = tell_perform(unit.number, pending.request);
  if (kind == RequestKind::store_conditional) {
    cancel_reservation(unit.number);
    statistics_.conditional_failures += succeeded ? 0 : 1;
  }
  if (access == Access::store && kind != RequestKind::load_reserved && succeeded) {
    data.value = ++stores_ == 0 ? ++stores_ : stores_; // 0 is "no data"
    if (options_.check_values)
      blocks_.at(block).last_store = data.value;
  }
  const bool direct = from_core && pending.direct;
  if (kind == RequestKind::load_reserved) {
    if (unit.reserved != block)
      cancel_reservation(unit.number);
    unit.reserved = block;
    if (!direct && !unit.window_open)
      open_window(unit);
  }
  pending.performed = true;
  pending.done = {pending.request.tag, kind, succeeded, block, data.value, now() - pending.since};
  if (!direct)
    end_access(unit, id);
}

// An access that missed has been performed, or is given up.
template <class P, class Client>
void System<P, Client>::end_access(timed::CoreUnit<Core> &unit, AccessId id) {
  Pending &pending = accesses_[id];
  pending.done.latency += configuration_.l1d.latency;
  statistics_.core.miss_latency.add(pending.done.latency);
  if (const MemoryRead &read = memory_read(pending.request.block);
      read.block == pending.request.block && read.at >= pending.since) {
    ++statistics_.core.memory_misses;
    statistics_.core.memory_cycles += pending.done.latency;
  }
  unit.mean_miss = unit.mean_miss - unit.mean_miss / 256 + pending.done.latency;
  schedule(now() + configuration_.l1d.latency, {{}, id, Kind::complete});
}

template <class P, class Client>
void System<P, Client>::abandon(timed::CoreUnit<Core> &unit, std::uint64_t block, AccessId id) {
  if (id == kNoAccess)
    fail(fmt::format("{} gives up an access that nobody asked for", unit_name<Core>(unit)), block);
  Pending &pending = accesses_[id];
  if (pending.request.kind == RequestKind::store_conditional) {
    cancel_reservation(unit.number);
    ++statistics_.conditional_failures;
  }
  ++statistics_.core.refused;
  if constexpr (kRefuses)
    client_.refused(*this, unit.number);
  pending.performed = true;
  pending.done = {pending.request.tag,  pending.request.kind, false, block, 0,
                  now() - pending.since};
  end_access(unit, id);
}

template <class P, class Client>
void System<P, Client>::device(std::uint64_t block, Access access, std::uint32_t tag) {
  const Event event = access == Access::load ? Event::dma_read : Event::dma_write;
  ++pending_;
  devices_.push_back({block, access, tag});
  ++(access == Access::load ? statistics_.device_reads : statistics_.device_writes);
  if constexpr (P::kBus) {
    request_bus(kDeviceOnBus + static_cast<unsigned>(event), block);
  } else {
    Message message = Message::of(event);
    message.block = block;
    message.src = message.dst = Node::home();
    handle<Home>(home_units_[home_of(block)], block, message.type, message, kNoAccess, false);
  }
}

template <class P, class Client>
void System<P, Client>::perform_device(std::uint64_t block, Access access, Data &data) {
  --pending_;
  if (options_.check_values && data.value != blocks_.at(block).last_store)
    fail(fmt::format("data value: a device sees store {} of block {:#x}, but the last was {}",
                     data.value, block, blocks_.at(block).last_store),
         block);
  // Several that want the same of a block are served in the order in which they asked.
  const auto done = std::find_if(devices_.begin(), devices_.end(), [&](const DeviceAccess &each) {
    return each.block == block && each.access == access;
  });
  if (done == devices_.end())
    fail("a device's access that nobody asked for", block);
  if constexpr (requires { client_.device_done(*this, *done); })
    client_.device_done(*this, DeviceAccess(*done));
  devices_.erase(done);
  if (access == Access::load)
    return;
  data.value = ++stores_ == 0 ? ++stores_ : stores_;
  if (options_.check_values)
    blocks_.at(block).last_store = data.value;
}

template <class P, class Client> bool System<P, Client>::flush(unsigned core, std::uint64_t block) {
  auto &unit = core_units_[core];
  if (!unit.caches.find(block) ||
      !may_give_way<Core>(unit, block, static_cast<std::uint8_t>(Event::evict), 0, 0))
    return false;
  Message message;
  message.type = static_cast<std::uint8_t>(Event::evict);
  message.block = block;
  message.src = unit.node;
  handle<Core>(unit, block, message.type, message, kNoAccess, false);
  ++statistics_.core.evictions;
  return true;
}

// ------------------------------------------------------------------------------------ the filter

template <class P, class Client>
void System<P, Client>::filter_insert(timed::HomeUnit<Home> &unit, std::uint64_t block) {
  Record &record = blocks_.at(block);
  if (record.member)
    fail(fmt::format("{} inserts a member into its filter", unit_name<Home>(unit)), block);
  record.member = true;
  ++statistics_.home.filter_inserts;
  [[maybe_unused]] const filter::Inserted inserted = unit.filter->insert(block);
  if constexpr (requires { Event::filter_full; })
    if (inserted.saturated && P::purges(protocol_)) {
      // The home's own event, once the present step is over.
      Hop what;
      what.targets = block;
      what.age = Node::kHome;
      what.flits = 1;
      schedule(now() + 1, {what, unit.number, Kind::timer});
    }
}

template <class P, class Client>
void System<P, Client>::filter_remove(timed::HomeUnit<Home> &unit, std::uint64_t block) {
  Record &record = blocks_.at(block);
  if (!record.member)
    fail(fmt::format("{} removes a block that is no member from its filter", unit_name<Home>(unit)),
         block);
  record.member = false;
  ++statistics_.home.filter_removes;
  unit.filter->erase(block);
}

// -------------------------------------------------------------------------------------- the loop

template <class P, class Client> std::uint64_t System<P, Client>::run(std::uint64_t events) {
  stopped_ = false;
  std::uint64_t done = 0;
  while (done < events && !stopped_ && !wheel_.empty()) {
    dispatch(wheel_.pop());
    ++done;
  }
  statistics_.events += done;
  return done;
}

template <class P, class Client> void System<P, Client>::dispatch(const Happening &what) {
  switch (what.kind) {
  case Kind::hop:
    mesh_.arrive(*this, now(), what.hop);
    return;
  case Kind::deliver:
    deliver(what.data, what.hop.router);
    return;
  case Kind::inject:
    inject(what.data);
    return;
  case Kind::core_step:
    client_.step(*this, what.data);
    return;
  case Kind::complete: {
    const Completion done = accesses_[what.data].done;
    const unsigned core = accesses_[what.data].core;
    release_access(what.data);
    client_.complete(*this, core, done);
    return;
  }
  case Kind::timer:
    expire(what);
    return;
  case Kind::grant:
    grant_bus();
    return;
  case Kind::bus_request:
    request_bus(what.data, what.hop.targets);
    return;
  case Kind::window: {
    auto &unit = core_units_[what.data];
    arrived(unit);
    if (unit.window_open && unit.window_ends == now())
      close_window(unit);
    return;
  }
  }
}

// A timeout of a transaction that still is, or a home's own event about its filter.
template <class P, class Client> void System<P, Client>::expire(const Happening &what) {
  const std::uint64_t block = what.hop.targets;
  Message message;
  message.block = block;
  const auto raise = [&]<class C>(UnitOf<C> &unit, std::uint8_t event) {
    message.type = event;
    message.src = message.dst = unit.node;
    if (may_give_way<C>(unit, block, event, 0, 0))
      handle<C>(unit, block, event, message, kNoAccess, false);
  };
  if constexpr (requires { Event::filter_full; })
    if (what.hop.flits == 1)
      return raise.template operator()<Home>(home_units_[what.data],
                                             static_cast<std::uint8_t>(Event::filter_full));
  if constexpr (requires { Event::timeout; })
    if (what.hop.age < kMaximumCores) {
      auto &unit = core_units_[what.data];
      arrived(unit);
      const std::uint32_t at = unit.transactions.find(block);
      if (at != unit.transactions.kNone &&
          static_cast<std::uint32_t>(unit.transactions[at].since) == what.hop.packet)
        raise.template operator()<Core>(unit, static_cast<std::uint8_t>(Event::timeout));
    }
}

// ------------------------------------------------------------------------------------- failures

template <class P, class Client>
template <class C>
std::string System<P, Client>::unit_name(const UnitOf<C> &unit) const {
  if constexpr (std::is_same_v<C, timed::NoController>)
    return "nothing";
  else
    return fmt::format("{} {}", C::kName, unit.number);
}

template <class P, class Client>
template <class C>
void System<P, Client>::hole(EnvOf<C> &env, std::uint8_t event, const std::string &what) {
  fail(fmt::format("{}: {} in state {}, transaction {}, event {} from node {}, block {:#x}", what,
                   unit_name<C>(env.unit_),
                   C::kLineStates[static_cast<std::size_t>(env.line_.state)].name,
                   C::kTbeStates[static_cast<std::size_t>(env.tbe_.state)].name,
                   P::kEvents[event].name, env.message_.src.id, env.block_),
       env.block_);
}

template <class P, class Client>
void System<P, Client>::fail(const std::string &what, std::uint64_t block) const {
  std::string text = fmt::format("{}: {}, cycle {}", P::kName, what, now());
  const std::string steps = history(block);
  if (!steps.empty())
    text += "\nthe last steps for this block:\n" + steps;
  throw ProtocolFailure(text);
}

template <class P, class Client> std::string System<P, Client>::history(std::uint64_t block) const {
  std::string text;
  const auto name = [](auto states, std::size_t count, unsigned state) {
    return state < count ? states[state].name : "?";
  };
  const std::size_t kept = std::min<std::size_t>(history_next_, history_.size());
  for (std::size_t i = history_next_ - kept; i < history_next_; ++i) {
    const Step &step = history_[i % kHistory];
    if (block != kNoBlock && step.block != block)
      continue;
    const auto line = [&]<class C>() {
      if constexpr (!std::is_same_v<C, timed::NoController>)
        text += fmt::format(
            "  {:>8} {} {}: {} {}, {} -> {}, {} (from {}, for {}, data {}, count {}, flags {})\n",
            step.at, C::kName, step.unit, P::kEvents[step.event].name,
            name(C::kLineStates, std::size(C::kLineStates), step.line),
            name(C::kTbeStates, std::size(C::kTbeStates), step.tbe),
            name(C::kLineStates, std::size(C::kLineStates), step.next_line),
            name(C::kTbeStates, std::size(C::kTbeStates), step.next_tbe), step.message.src.id,
            step.message.requester.id,
            step.message.has_data ? fmt::format("{}", step.message.data.value) : "-",
            step.message.count, step.message.flags);
    };
    if (step.role == Role::core)
      line.template operator()<Core>();
    else if (step.role == Role::home)
      line.template operator()<Home>();
    else
      line.template operator()<Memory>();
  }
  return text;
}

template <class P, class Client>
template <class C>
void System<P, Client>::report_unit(std::string &text, const UnitOf<C> &unit) const {
  if constexpr (!std::is_same_v<C, timed::NoController>) {
    unit.transactions.for_each([&](const auto &entry) {
      text += fmt::format(
          "  {}: block {:#x} in transaction {} since cycle {}\n", unit_name<C>(unit), entry.block,
          C::kTbeStates[static_cast<std::size_t>(entry.tbe.state)].name, entry.since);
    });
    const auto waiting = [&](const Parked &parked) {
      text += fmt::format("  {}: {} for block {:#x} waits for {}\n", unit_name<C>(unit),
                          P::kEvents[parked.event].name, parked.block,
                          parked.wake == Wake::room ? "room" : "its transaction");
    };
    unit.parked.for_each(waiting);
    unit.room.for_each(waiting);
  }
}

template <class P, class Client> std::string System<P, Client>::stuck() const {
  std::string text;
  for (const auto &unit : core_units_)
    report_unit<Core>(text, unit);
  for (const auto &unit : home_units_)
    report_unit<Home>(text, unit);
  for (const auto &unit : memory_units_)
    report_unit<Memory>(text, unit);
  return text;
}

} // namespace tandem::machine
