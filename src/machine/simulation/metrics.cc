// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation/metrics.h"

#include "machine/protocol/types.h"

#include <array>
#include <cmath>

namespace tandem::machine {
namespace {

double ratio(double part, double whole) { return whole == 0 ? 0 : part / whole; }
double n(std::uint64_t count) { return static_cast<double>(count); }

void add_caches(std::vector<Metric> &all, const RunResult &r) {
  const CoreStatistics &core = r.statistics.core;
  const double accesses = n(core.accesses());
  const double thousands = n(r.instructions) / 1000;
  all.push_back(
      {"l1_miss_percent", "L1 misses", "%", 100 * ratio(accesses - n(core.l1_hits), accesses)});
  all.push_back({"private_mpki", "misses of the private caches", "per 1000 instructions",
                 ratio(n(core.misses + core.merged), thousands)});
  all.push_back({"shared_miss_percent", "misses for blocks that several cores have missed", "%",
                 100 * ratio(n(core.shared_misses), n(core.misses))});
  all.push_back({"core_fill_percent", "blocks that came from another core", "%",
                 100 * ratio(n(core.core_fills), n(core.fills))});
  all.push_back({"memory_mpki", "memory reads", "per 1000 instructions",
                 ratio(n(r.statistics.memory.reads), thousands)});
  all.push_back({"l2_hit_percent", "L1 misses that hit the L2", "%",
                 100 * ratio(n(core.l2_hits), accesses - n(core.l1_hits))});
  all.push_back({"footprint", "blocks that the private caches have missed since the start", "KiB",
                 n(r.missed_blocks) * kBlockBytes / 1024});
  all.push_back({"shared_block_percent", "of those, missed by several cores", "%",
                 100 * ratio(n(r.shared_blocks), n(r.missed_blocks))});
  all.push_back({"miss_latency", "latency of a miss", "cycles",
                 ratio(n(core.miss_latency.sum), n(core.miss_latency.count))});
  all.push_back({"memory_latency", "latency of a miss that memory serves", "cycles",
                 ratio(n(core.memory_cycles), n(core.memory_misses))});
}

void add_home(std::vector<Metric> &all, const RunResult &r) {
  const HomeStatistics &home = r.statistics.home;
  const double requests = n(home.requests);
  if (r.routers == 0)
    return;
  all.push_back({"llc_hit_percent", "requests that find the LLC has data", "%",
                 100 * ratio(n(home.llc_hits), requests)});
  all.push_back({"directory_hit_percent", "requests that find an entry", "%",
                 100 * ratio(n(home.directory_hits), requests)});
  all.push_back({"directory_evictions", "directory evictions", "per 1000 requests",
                 1000 * ratio(n(home.directory_evictions), requests)});
  all.push_back({"broadcasts", "broadcasts", "per 1000 requests",
                 1000 * ratio(n(r.statistics.broadcasts), requests)});
  if (home.filter_inserts + home.filter_lookups == 0)
    return;
  all.push_back({"broadcasts_in_vain", "broadcasts that found nobody", "per 1000 requests",
                 1000 * ratio(n(home.false_positives), requests)});
  all.push_back({"broadcasts_found", "broadcasts that found a holder", "per 1000 requests",
                 1000 * ratio(n(r.statistics.broadcasts) - n(home.false_positives), requests)});
  all.push_back({"filter_false_positive_percent", "filter: false positives of non-members", "%",
                 100 * ratio(n(home.false_positives),
                             n(home.filter_lookups - home.filter_hits + home.false_positives))});
  all.push_back({"filter_expected_percent", "filter: what the formula gives for those members", "%",
                 100 * r.filter_expected});
  all.push_back(
      {"filter_sub_tables", "filter: sub-tables of a slice at the end", "", r.filter_sub_tables});
  all.push_back({"ways_moved", "ways moved between directory and filter", "per 1000000 requests",
                 1e6 * ratio(n(home.ways_to_directory + home.ways_to_filter), requests)});
  all.push_back({"filter_members", "filter: members of a slice at the end", "", r.filter_members});
  all.push_back(
      {"filter_spilled", "filter: of those, without a cell of their own", "", r.filter_spilled});
}

void add_network(std::vector<Metric> &all, const RunResult &r) {
  const double accesses = n(r.accesses);
  if (r.routers == 0) {
    const BusStatistics &bus = r.statistics.bus;
    all.push_back({"bus_wait", "wait for the address bus", "cycles",
                   ratio(n(bus.wait_cycles), n(bus.grants))});
    all.push_back({"bus_refused", "refused by a snooper", "per 1000 grants",
                   1000 * ratio(n(bus.refused), n(bus.grants))});
    return;
  }
  const MeshStatistics::Network total = r.network.total();
  all.push_back({"flit_hops", "network traffic", "flits x links per 1000 accesses",
                 1000 * ratio(n(total.link_flits), accesses)});
  const auto links_of = [&](Vnet vnet) {
    return n(r.network.networks[static_cast<std::size_t>(vnet)].link_flits);
  };
  const double asking = links_of(Vnet::request) + links_of(Vnet::forward) + links_of(Vnet::memory);
  all.push_back({"request_flit_hops", "of that, requests and forwards",
                 "flits x links per 1000 accesses", 1000 * ratio(asking, accesses)});
  all.push_back({"response_flit_hops", "of that, responses and write-backs",
                 "flits x links per 1000 accesses",
                 1000 * ratio(n(total.link_flits) - asking, accesses)});
  all.push_back({"packet_latency", "latency of a packet", "cycles",
                 ratio(n(total.latency), n(total.deliveries))});
  all.push_back({"busiest_link_percent", "use of the busiest link", "%",
                 100 * ratio(n(r.busiest_link), n(r.cycles))});
  all.push_back({"buffer_overruns", "packets beyond a port's buffer", "per 1000 packets",
                 1000 * ratio(n(r.network.buffer_overruns), n(total.packets))});
}

} // namespace

std::vector<Metric> metrics(const RunResult &r) {
  std::vector<Metric> all;
  all.push_back({"cycles", "execution time", "cycles", n(r.cycles)});
  all.push_back(
      {"ipc", "instructions per cycle, all cores", "", ratio(n(r.instructions), n(r.cycles))});
  all.push_back({"access_time", "average memory access time", "cycles", r.access_time});
  add_caches(all, r);
  add_home(all, r);
  all.push_back({"memory_reads", "memory reads", "per 1000 accesses",
                 1000 * ratio(n(r.statistics.memory.reads), n(r.accesses))});
  all.push_back({"memory_writes", "memory writes", "per 1000 accesses",
                 1000 * ratio(n(r.statistics.memory.writes), n(r.accesses))});
  add_network(all, r);
  all.push_back({"energy_dynamic", "dynamic energy", "uJ", r.energy.dynamic_uj});
  all.push_back({"energy_static", "static energy", "uJ", r.energy.static_uj});
  all.push_back({"edp", "energy-delay product", "nJ s", r.energy.edp * 1000});
  return all;
}

std::vector<std::string> metric_names(const ProtocolEntry &protocol) {
  RunResult any; // a run in which nothing happened, on a machine of the kind that it needs
  any.routers = protocol.bus ? 0 : 1;
  any.statistics.home.filter_inserts = protocol.filter ? 1 : 0;
  std::vector<std::string> names;
  for (const Metric &each : metrics(any))
    names.push_back(each.name);
  return names;
}

std::optional<double> metric(const RunResult &result, std::string_view name) {
  for (const Metric &each : metrics(result))
    if (each.name == name)
      return each.value;
  return std::nullopt;
}

Estimate estimate(const std::vector<double> &values) {
  Estimate result;
  for (const double value : values)
    result.mean += value / static_cast<double>(values.size());
  if (values.size() < 2)
    return result;
  double squares = 0;
  for (const double value : values)
    squares += (value - result.mean) * (value - result.mean);
  const std::size_t freedom = values.size() - 1;
  // Quantiles 0.975 of Student's t; beyond 30 degrees of freedom Fisher's expansion of first order.
  static constexpr std::array<double, 30> kQuantiles = {
      12.706, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228,
      2.201,  2.179, 2.160, 2.145, 2.131, 2.120, 2.110, 2.101, 2.093, 2.086,
      2.080,  2.074, 2.069, 2.064, 2.060, 2.056, 2.052, 2.048, 2.045, 2.042};
  constexpr double kNormal = 1.959964;
  const double t =
      freedom <= kQuantiles.size()
          ? kQuantiles[freedom - 1]
          : kNormal + (kNormal * kNormal * kNormal + kNormal) / (4 * static_cast<double>(freedom));
  const double deviation = std::sqrt(squares / static_cast<double>(freedom));
  result.half_width = t * deviation / std::sqrt(static_cast<double>(values.size()));
  return result;
}

} // namespace tandem::machine
