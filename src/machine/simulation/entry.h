// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What makes a ProtocolEntry of a protocol: instantiates the timed system for it. Included by one
// file for each protocol.
#pragma once

#include "machine/simulation/counted.h"
#include "machine/simulation/driver.h"
#include "machine/simulation/simulation.h"
#include "machine/simulation/tester.h"
#include "machine/timed/system.h"
#include "machine/trace/trace.h"
#include "machine/traffic/generator.h"

#include <ctime>
#include <sys/resource.h>

namespace tandem::machine::simulation {

template <class P> std::vector<ProtocolOption> options_of() {
  std::vector<ProtocolOption> options;
  const typename P::Config preset;
  for (const auto &field : P::kConfigFields)
    options.push_back({field.name, field.description, preset.*field.value});
  return options;
}

// The protocol's options from the configuration, which check_fit() has accepted.
template <class P> typename P::Config config_of(const Configuration &configuration) {
  typename P::Config config;
  const auto given = configuration.options.find(P::kName);
  if (given != configuration.options.end())
    for (const auto &field : P::kConfigFields)
      if (const auto value = given->second.find(field.name); value != given->second.end())
        config.*field.value = value->second != 0;
  return config;
}

inline double cpu_seconds() {
  std::timespec time{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_nsec) * 1e-9;
}

template <class P, class S> std::vector<RowCount> rows_of(const S &system) {
  std::vector<RowCount> rows;
  const auto add = [&]<class C>() {
    if constexpr (!std::is_same_v<C, timed::NoController>) {
      const auto &taken = system.template coverage<C>();
      for (std::size_t i = 0; i < taken.size(); ++i)
        rows.push_back({C::kName, i, taken[i]});
    }
  };
  add.template operator()<typename S::Core>();
  add.template operator()<typename S::Home>();
  add.template operator()<typename S::Memory>();
  return rows;
}

// What was counted in so many cycles, in the state that the system is in now.
template <class P, class S>
void fill_from_counts(RunResult &result, const S &system, const Configuration &configuration,
                      const Counted &counted) {
  result.protocol = P::kName;
  result.configuration = configuration.name;
  result.cycles = counted.cycles;
  const CoreStatistics &core = counted.statistics.core;
  const CacheConfiguration &l1 = configuration.l1d;
  const double waited =
      static_cast<double>(core.l1_hits) * l1.latency +
      static_cast<double>(core.l2_hits) * (l1.latency + configuration.l2.latency) +
      static_cast<double>(core.miss_latency.sum);
  const std::uint64_t ended = core.l1_hits + core.l2_hits + core.miss_latency.count;
  result.access_time = ended == 0 ? 0 : waited / static_cast<double>(ended);
  if constexpr (timed::has_filter<P>()) {
    result.filter_members = system.mean_filter_members();
    result.filter_sub_tables = system.mean_sub_tables();
    result.filter_spilled = system.mean_filter_spilled();
    result.filter_expected =
        timed::expected_false_positives(configuration, result.filter_members, result.filter_spilled,
                                        timed::spill_groups<P>(system.protocol_config()));
  }
  result.statistics = counted.statistics;
  result.network = counted.network;
  result.missed_blocks = system.missed_blocks();
  result.shared_blocks = system.shared_blocks();
  result.routers = P::kBus ? 0 : system.mesh().routers();
  result.energy = energy_report(configuration, P::kBus, timed::has_filter<P>(), result.statistics,
                                result.network, result.routers, result.cycles);
  for (std::size_t i = 0; i < std::size(P::kEvents); ++i)
    if (P::kEvents[i].kind == EventKind::message)
      result.messages.push_back(
          {P::kEvents[i].name, result.statistics.messages[i], result.statistics.deliveries[i]});
}

// What the system knows of a run of so many cycles.
template <class P, class S>
void fill_from_system(RunResult &result, const S &system, const Configuration &configuration,
                      Cycle cycles) {
  fill_from_counts<P>(result, system, configuration,
                      {system.statistics(), system.mesh().statistics(), cycles});
  result.busiest_link = system.mesh().busiest_link();
  result.rows = rows_of<P>(system);
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  result.memory_bytes = static_cast<std::uint64_t>(usage.ru_maxrss) * 1024;
}

template <class P, class S>
void fill_result(RunResult &result, const S &system, const TrafficCores &cores,
                 const RunRequest &request) {
  fill_from_system<P>(result, system, request.configuration, system.measured_cycles());
  result.seed = request.seed;
  result.complete = cores.finished() || request.trace.size() != 0;
  result.instructions = cores.instructions();
  result.accesses = cores.issued() - std::min(cores.issued(), unmeasured(request.work));
}

// The latest interval, of which `before` is the beginning and becomes the end.
template <class P, class S>
RunResult interval_of(const S &system, const TrafficCores &cores, const RunRequest &request,
                      Counted &before) {
  const Counted now{system.statistics(), system.mesh().statistics(), system.measured_cycles(),
                    cores.instructions(), cores.issued() - unmeasured(request.work)};
  const Counted own = since(before, now);
  RunResult result;
  fill_from_counts<P>(result, system, request.configuration, own);
  result.seed = request.seed;
  result.complete = true;
  result.instructions = own.instructions;
  result.accesses = own.accesses;
  before = now;
  return result;
}

template <class P> Result<RunResult> run_with(const RunRequest &request, Source &source) {
  TrafficCores cores(request.configuration.core, source, request.work);
  Driver driver(cores);
  System<P, Driver> system(request.configuration, config_of<P>(request.configuration),
                           {.seed = request.seed, .check_values = request.check_values}, driver);
  constexpr std::uint64_t kSlice = 1 << 18; // events between two looks at the outside
  double began = cpu_seconds();
  cores.call_when_timed([&] { began = cpu_seconds(); });
  RunResult result;
  Counted before;
  if (request.every != 0)
    cores.call_every(request.every, [&] {
      result.intervals.push_back(interval_of<P>(system, cores, request, before));
    });
  cores.start(system);
  const std::uint64_t wanted = unmeasured(request.work) + request.work.accesses;
  for (;;) {
    const std::uint64_t done = system.run(kSlice);
    if (cores.finished())
      break;
    if (request.go_on && !request.go_on(cores.issued(), wanted))
      break;
    if (done == kSlice)
      continue;
    if (system.pending() != 0)
      throw ProtocolFailure(fmt::format("{}: nothing happens any more, cycle {}\n{}", P::kName,
                                        system.now(), system.stuck()));
    break; // the trace is over
  }
  result.host_cpu_s = cpu_seconds() - began;
  fill_result<P>(result, system, cores, request);
  result.host_accesses = cores.issued() - std::min(cores.issued(), request.work.fast_forward);
  return result;
}

template <class P> Result<RunResult> run(const RunRequest &request) {
  if (request.trace.empty()) {
    TrafficGenerator source(request.profile, request.configuration.cores,
                            request.configuration.core.dependent_percent, request.seed);
    Result<RunResult> result = run_with<P>(request, source);
    if (result) {
      result->workload = request.profile.name;
      result->family = request.profile.family;
    }
    return result;
  }
  Result<TraceReader> source = TraceReader::open(request.trace, request.configuration.cores);
  if (!source)
    return source.error();
  Result<RunResult> result = run_with<P>(request, *source);
  if (!source->error().empty())
    return Error{source->error()};
  if (result) {
    result->workload = request.trace;
    result->family = "trace";
  }
  return result;
}

template <class P> ProtocolEntry entry() {
  return {P::kName,        P::kSummary, P::kBus, timed::has_filter<P>(),
          options_of<P>(), &run<P>,     &test<P>};
}

} // namespace tandem::machine::simulation
