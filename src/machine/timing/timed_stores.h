// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed_cores.h: stores leave the buffers. Each does so in a step of its own, at its cycle,
// before its hart's; one at a time is fetched for. With a weak order, one whose line may be written
// already goes before older ones of other lines.
#pragma once

#include "machine/timing/timed_cores.h"

namespace tandem::machine::timing {

constexpr std::uint64_t line_of(const StoreBuffer::Store &store) {
  return store.address >> kLineShift;
}

// From when on the next store may leave, if that is not known yet.
template <class P> void CoresOf<P>::arm(unsigned number) {
  Core &core = cores_[number];
  const bool weak = options_.configuration.hart.store_order == StoreOrder::weak;
  if (core.drain_at == kNever && !harts_[number].timing().buffer.empty() &&
      (weak || core.drain_line == kNoLine))
    core.drain_at = core.clock;
}

// The same after a burst, which has put one in or changed nothing. How far it went says nothing.
template <class P> void CoresOf<P>::arm_for_new(unsigned number) {
  const StoreBuffer &buffer = harts_[number].timing().buffer;
  if (buffer.empty() || buffer.stores().back().number == cores_[number].newest_store)
    return;
  cores_[number].newest_store = buffer.stores().back().number;
  arm(number);
}

// With a weak order, a store for which there was no line may have one now: tokens come unasked, and
// what kept the line busy ends.
template <class P> void CoresOf<P>::lost(S &, unsigned number, std::uint64_t block) {
  harts_[number].timing().drop(block);
  if (!harts_[number].timing().buffer.empty() &&
      options_.configuration.hart.store_order == StoreOrder::weak)
    arm_at(cores_[number], system_.now() + 1);
}

// The store that leaves next; 0: none now.
template <class P> std::uint32_t CoresOf<P>::next_store(unsigned number) {
  const std::vector<StoreBuffer::Store> &stores = harts_[number].timing().buffer.stores();
  const bool fetches = cores_[number].drain_line != kNoLine;
  if (options_.configuration.hart.store_order == StoreOrder::weak)
    for (auto store = stores.begin(); store != stores.end(); ++store) {
      const std::uint64_t line = line_of(*store);
      const bool first = std::none_of(stores.begin(), store, [&](const StoreBuffer::Store &older) {
        return line_of(older) == line;
      });
      if (first && line != cores_[number].drain_line && system_.may_store(number, line))
        return store->number;
    }
  return fetches || stores.empty() ? 0 : stores.front().number;
}

template <class P> void CoresOf<P>::drain_store(unsigned number) {
  Core &core = cores_[number];
  const Cycle at = std::exchange(core.drain_at, kNever);
  const std::uint32_t next = next_store(number);
  if (next == 0)
    return;
  if (at > system_.now())
    system_.skip_to(at);
  const std::uint64_t line = line_of(*harts_[number].timing().buffer.find(next));
  accesses_ = true;
  const Outcome outcome = system_.access(number, {line, RequestKind::store, kStoreTag | next});
  accesses_ = false;
  if (!outcome.hit) {
    CHECK(core.drain_line == kNoLine, "hart {} fetches for two stores", number);
    core.drain_line = line;
    if (options_.configuration.hart.store_order == StoreOrder::weak)
      arm_at(core, at + 1);
  } else if (core.drain_at != kNever && outcome.done.latency > options_.configuration.l1d.latency) {
    core.drain_at = std::max(core.drain_at, at + outcome.done.latency);
  }
}

// The instant at which a store leaves, if it is still there: a kernel may have written it.
template <class P> bool CoresOf<P>::perform_store(unsigned number, const Request &request) {
  Core &core = cores_[number];
  StoreBuffer &buffer = harts_[number].timing().buffer;
  if (request.block == core.drain_line)
    core.drain_line = kNoLine;
  const StoreBuffer::Store *store = buffer.find(request.tag & ~kStoreTag);
  clock_.now = system_.now();
  const Cycle next = system_.now() + 1;
  if (store == nullptr) {
    if (!buffer.empty())
      arm_at(core, next);
    return false;
  }
  if (htm_.wants_asking()) {
    htm_.set_kill_delay(kill_delay());
    if (htm_.access(number, store->address, store->size, AccessMode::write) != Verdict::done) {
      arm_at(core, std::max(htm_.retry_at(), next));
      return false;
    }
  }
  harts_.bus().memory().store(store->address, {store->bytes.data(), store->size});
  buffer.take(store->number);
  if (!buffer.empty())
    arm_at(core, next);
  went(number, system_.now());
  return true;
}

// Stores have left: its hart may have waited for that.
template <class P> void CoresOf<P>::went(unsigned number, Cycle at) {
  Core &core = cores_[number];
  const StoreBuffer &buffer = harts_[number].timing().buffer;
  if (core.state != State::draining || (core.want == Want::room ? buffer.full() : !buffer.empty()))
    return;
  core.clock = std::max(core.clock, at + 1);
  const Cycle waited = core.clock - core.since;
  cycles_[number].stores += waited;
  count_system(number, waited);
  spend(number, Spent::store, core.since, core.clock);
  core.want = Want::nothing;
  core.state = harts_[number].awake() ? State::ready : State::idle;
}

// What concerns all harts (kernels that read and write memory as they like, and may move threads)
// finds every store done: at once, as by a device.
template <class P> void CoresOf<P>::flush_stores(Cycle at) {
  for (unsigned number = 0; number < cores_.size(); ++number) {
    StoreBuffer &buffer = harts_[number].timing().buffer;
    if (buffer.empty())
      continue;
    for (const StoreBuffer::Store &store : buffer.stores()) {
      CHECK(harts_.bus().memory().write(store.address, {store.bytes.data(), store.size}));
      heard_access(store.address, store.size, true);
    }
    buffer.clear();
    cores_[number].drain_at = kNever;
    went(number, at);
  }
}

} // namespace tandem::machine::timing
