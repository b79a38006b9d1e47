// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the timed system counts. All are events unless a unit is named; reset when warm-up ends.
#pragma once

#include "machine/event/wheel.h"

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

namespace tandem::machine {

// Latencies by powers of two: bucket i counts those in [2^i, 2^(i+1)), the last all above.
struct LatencyHistogram {
  static constexpr std::size_t kBuckets = 16;
  std::array<std::uint64_t, kBuckets> counts{};
  std::uint64_t sum = 0; // cycles
  std::uint64_t count = 0;

  void add(Cycle cycles) {
    const auto bucket = static_cast<std::size_t>(cycles == 0 ? 0 : std::bit_width(cycles) - 1);
    ++counts[bucket < kBuckets ? bucket : kBuckets - 1];
    sum += cycles;
    ++count;
  }
};

struct CoreStatistics {
  std::uint64_t loads = 0;
  std::uint64_t stores = 0; // atomics too
  std::uint64_t fetches = 0;
  std::uint64_t l1_hits = 0;
  std::uint64_t l2_hits = 0;
  std::uint64_t misses = 0;        // a transaction was started for it
  std::uint64_t shared_misses = 0; // of the misses: blocks that several cores have missed so far
  std::uint64_t merged = 0;        // waited for another access's transaction, or for room
  LatencyHistogram miss_latency;   // of misses and merged ones, until the access happened
  std::uint64_t memory_misses = 0; // of those: memory read the block since they began
  std::uint64_t memory_cycles = 0; // their latencies
  std::uint64_t refused = 0;       // of those: given up, for a hardware transaction of another core
  std::uint64_t evictions = 0;     // blocks that left for another
  std::uint64_t probes = 0;        // messages that looked into the caches
  std::uint64_t data_reads = 0;    // blocks read for messages that leave
  std::uint64_t fills = 0;         // blocks written from messages that arrive
  std::uint64_t core_fills = 0;    // of those, from another core

  [[nodiscard]] std::uint64_t accesses() const { return loads + stores + fetches; }
};

struct HomeStatistics {
  std::uint64_t requests = 0; // taken up, of virtual network 0
  std::uint64_t llc_hits = 0; // of those: the LLC had a line
  std::uint64_t directory_hits = 0;
  std::uint64_t filter_lookups = 0;
  std::uint64_t filter_hits = 0;
  std::uint64_t false_positives = 0; // hits for blocks that are no members: exact
  std::uint64_t filter_inserts = 0;
  std::uint64_t filter_removes = 0;
  std::uint64_t directory_evictions = 0;
  std::uint64_t directory_writes = 0; // entries made, changed or freed
  std::uint64_t directory_reads = 0;  // steps
  std::uint64_t llc_evictions = 0;
  std::uint64_t llc_reads = 0;         // blocks sent
  std::uint64_t llc_writes = 0;        // blocks taken
  std::uint64_t llc_tags = 0;          // lookups
  std::uint64_t waits = 0;             // events that were parked
  std::uint64_t ways_to_directory = 0; // sub-tables of filters that became ways
  std::uint64_t ways_to_filter = 0;
};

struct MemoryStatistics {
  std::uint64_t reads = 0;
  std::uint64_t writes = 0;
  std::uint64_t queue_cycles = 0; // that reads waited for the channel
};

struct BusStatistics {
  std::uint64_t grants = 0;
  std::uint64_t refused = 0;     // by a snooper, and tried again
  std::uint64_t wait_cycles = 0; // from the request to the grant
  std::uint64_t data_blocks = 0;
  std::uint64_t data_wait_cycles = 0;
  std::uint64_t control_messages = 0;
};

struct Statistics {
  CoreStatistics core; // over all cores
  HomeStatistics home;
  MemoryStatistics memory;
  BusStatistics bus;
  std::vector<std::uint64_t> messages;   // by event of the protocol
  std::vector<std::uint64_t> deliveries; // of those: a multicast counts for each target
  std::uint64_t device_reads = 0;        // asked for
  std::uint64_t device_writes = 0;       // the same
  std::uint64_t broadcasts = 0;          // multicasts to all other cores (at least two)
  std::uint64_t steps = 0;               // rows taken
  std::uint64_t events = 0;              // of the wheel
  std::uint64_t reservations_lost = 0;   // load-reserved whose block was taken
  std::uint64_t conditional_failures = 0;
};

} // namespace tandem::machine
