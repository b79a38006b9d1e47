// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Part of timed_cores.h: hints, regions, and what was counted.
#pragma once

#include "machine/timing/timed_cores.h"

namespace tandem::machine::timing {

template <class P> void CoresOf<P>::take_hint(unsigned number, Hart &hart) {
  if (number == hint::kFunctional || number == hint::kWarming || number == hint::kTiming) {
    wanted_ = number == hint::kFunctional ? Mode::functional
              : number == hint::kWarming  ? Mode::warming
                                          : Mode::timing;
    if (!timed())
      hart.end_burst();
  } else if (number >= hint::kBegin && number < hint::kBegin + hint::kRegions) {
    region(number - hint::kBegin, true);
  } else if (number >= hint::kEnd && number < hint::kEnd + hint::kRegions) {
    region(number - hint::kEnd, false);
  }
}

// Regions are the machine's, not a hart's: the first begin counts, and the first end after it.
template <class P> void CoresOf<P>::region(unsigned number, bool begins) {
  const auto open = open_.find(number);
  if (begins) {
    if (open == open_.end())
      open_.emplace(number, counts());
    return;
  }
  if (open == open_.end())
    return;
  RegionCounts &into = regions_[number];
  const auto now_counted = counts();
  if (into.counts.empty())
    for (const auto &[name, value] : now_counted)
      into.counts.emplace_back(name, 0);
  ++into.entered;
  for (std::size_t i = 0; i < now_counted.size(); ++i)
    into.counts[i].second += now_counted[i].second - open->second[i].second;
  open_.erase(open);
}

template <class P> std::vector<std::pair<std::string, std::uint64_t>> CoresOf<P>::counts() const {
  HartCycles all;
  std::uint64_t quick = 0;
  for (unsigned number = 0; number < cores_.size(); ++number) {
    const HartCycles &one = cycles_[number];
    all.instructions += one.instructions;
    all.fetches += one.fetches;
    all.loads += one.loads;
    all.stores += one.stores;
    all.atomics += one.atomics;
    all.walks += one.walks;
    all.service += one.service;
    all.waits += one.waits;
    all.system += one.system;
    const HartTiming &timing = harts_[number].timing();
    quick += timing.loads + timing.stores + timing.fetches;
  }
  const Statistics &s = system_.statistics();
  std::uint64_t messages = 0;
  for (const std::uint64_t sent : s.messages)
    messages += sent;
  return {{"timed_instructions", all.instructions},
          {"timed_cycles", timed_cycles()},
          {"fetch_stall_cycles", all.fetches},
          {"load_stall_cycles", all.loads},
          {"store_stall_cycles", all.stores},
          {"atomic_stall_cycles", all.atomics},
          {"walk_stall_cycles", all.walks},
          {"service_cycles", all.service},
          {"transaction_wait_cycles", all.waits},
          {"system_cycles", all.system},
          {"l1_hits", s.core.l1_hits + quick},
          {"l2_hits", s.core.l2_hits},
          {"misses", s.core.misses + s.core.merged},
          {"shared_misses", s.core.shared_misses},
          {"miss_cycles", s.core.miss_latency.sum},
          {"memory_reads", s.memory.reads},
          {"memory_writes", s.memory.writes},
          {"device_reads", s.device_reads},
          {"device_writes", s.device_writes},
          {"messages", messages},
          {"link_flits", system_.mesh().statistics().total().link_flits},
          {"bus_grants", s.bus.grants},
          {"conditional_failures", s.conditional_failures}};
}

template <class P> RunResult CoresOf<P>::result() {
  for (auto &hart : harts_) {
    HartTiming &timing = hart->timing();
    system_.count_hits(std::exchange(timing.loads, 0), std::exchange(timing.stores, 0),
                       std::exchange(timing.fetches, 0));
  }
  RunResult result;
  simulation::fill_from_system<P>(result, system_, options_.configuration, timed_cycles());
  result.seed = options_.seed;
  result.workload = "program";
  result.family = "program";
  result.complete = true;
  for (const HartCycles &one : cycles_)
    result.instructions += one.instructions;
  result.accesses = result.statistics.core.loads + result.statistics.core.stores;
  return result;
}

} // namespace tandem::machine::timing
