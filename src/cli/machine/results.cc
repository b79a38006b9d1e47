// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cli/machine/results.h"

#include "cli/common/table.h"
#include "machine/simulation/metrics.h"

#include <cmath>

namespace tandem::machine_cli {

using machine::Estimate;
using machine::Metric;
using machine::RunResult;
using nlohmann::ordered_json;

namespace {

ordered_json histogram(const machine::LatencyHistogram &latency) {
  ordered_json buckets = ordered_json::array();
  for (std::size_t i = 0; i < latency.counts.size(); ++i)
    if (latency.counts[i] != 0)
      buckets.push_back({{"from_cycles", std::uint64_t{1} << i}, {"count", latency.counts[i]}});
  return {{"count", latency.count}, {"sum_cycles", latency.sum}, {"buckets", buckets}};
}

ordered_json counts(const RunResult &r) {
  const machine::CoreStatistics &core = r.statistics.core;
  const machine::HomeStatistics &home = r.statistics.home;
  const machine::BusStatistics &bus = r.statistics.bus;
  ordered_json all;
  all["cores"] = {{"loads", core.loads},
                  {"stores", core.stores},
                  {"fetches", core.fetches},
                  {"l1_hits", core.l1_hits},
                  {"l2_hits", core.l2_hits},
                  {"misses", core.misses},
                  {"merged", core.merged},
                  {"refused", core.refused},
                  {"evictions", core.evictions},
                  {"probes", core.probes},
                  {"data_reads", core.data_reads},
                  {"fills", core.fills},
                  {"core_fills", core.core_fills},
                  {"shared_misses", core.shared_misses},
                  {"miss_latency", histogram(core.miss_latency)}};
  all["homes"] = {{"requests", home.requests},
                  {"llc_hits", home.llc_hits},
                  {"directory_hits", home.directory_hits},
                  {"directory_reads", home.directory_reads},
                  {"directory_writes", home.directory_writes},
                  {"directory_evictions", home.directory_evictions},
                  {"llc_tags", home.llc_tags},
                  {"llc_reads", home.llc_reads},
                  {"llc_writes", home.llc_writes},
                  {"llc_evictions", home.llc_evictions},
                  {"filter_lookups", home.filter_lookups},
                  {"filter_hits", home.filter_hits},
                  {"filter_false_positives", home.false_positives},
                  {"filter_inserts", home.filter_inserts},
                  {"filter_removes", home.filter_removes},
                  {"ways_to_directory", home.ways_to_directory},
                  {"ways_to_filter", home.ways_to_filter},
                  {"waits", home.waits}};
  all["memory"] = {{"reads", r.statistics.memory.reads},
                   {"writes", r.statistics.memory.writes},
                   {"read_queue_cycles", r.statistics.memory.queue_cycles}};
  all["devices"] = {{"reads", r.statistics.device_reads}, {"writes", r.statistics.device_writes}};
  all["bus"] = {{"grants", bus.grants},
                {"refused", bus.refused},
                {"wait_cycles", bus.wait_cycles},
                {"data_blocks", bus.data_blocks},
                {"data_wait_cycles", bus.data_wait_cycles},
                {"control_messages", bus.control_messages}};
  all["broadcasts"] = r.statistics.broadcasts;
  all["protocol_steps"] = r.statistics.steps;
  all["simulator_events"] = r.statistics.events;
  return all;
}

ordered_json network(const RunResult &r) {
  static constexpr const char *kNames[] = {"request", "forward", "response", "writeback", "memory"};
  ordered_json virtual_networks = ordered_json::array();
  for (std::size_t i = 0; i < std::size(kNames); ++i) {
    const machine::MeshStatistics::Network &one = r.network.networks[i];
    virtual_networks.push_back({{"name", kNames[i]},
                                {"packets", one.packets},
                                {"multicasts", one.multicasts},
                                {"deliveries", one.deliveries},
                                {"flits", one.flits},
                                {"link_flits", one.link_flits},
                                {"latency_cycles", one.latency}});
  }
  return {{"routers", r.routers},
          {"router_flits", r.network.router_flits},
          {"buffer_flits", r.network.buffer_flits},
          {"waits", r.network.waits},
          {"wait_cycles", r.network.wait_cycles},
          {"buffer_overruns", r.network.buffer_overruns},
          {"busiest_link_flits", r.busiest_link},
          {"virtual_networks", virtual_networks}};
}

ordered_json energy(const RunResult &r) {
  ordered_json parts = ordered_json::array();
  for (const machine::EnergyPart &part : r.energy.parts)
    parts.push_back(
        {{"name", part.name}, {"dynamic_uj", part.dynamic_uj}, {"static_uj", part.static_uj}});
  return {{"parts", parts},
          {"dynamic_uj", r.energy.dynamic_uj},
          {"static_uj", r.energy.static_uj},
          {"seconds", r.energy.seconds},
          {"edp_uj_s", r.energy.edp},
          {"sources", machine::energy_sources()}};
}

std::vector<double> values_of(const std::vector<RunResult> &results, const std::string &name) {
  std::vector<double> values;
  for (const RunResult &result : results)
    if (const auto value = machine::metric(result, name))
      values.push_back(*value);
  return values;
}

} // namespace

ordered_json to_json(const RunResult &r) {
  ordered_json run;
  run["protocol"] = r.protocol;
  run["workload"] = r.workload;
  run["family"] = r.family;
  run["seed"] = r.seed;
  run["complete"] = r.complete;
  run["cycles"] = r.cycles;
  run["instructions"] = r.instructions;
  run["accesses"] = r.accesses;
  for (const Metric &metric : machine::metrics(r))
    run["metrics"][metric.name] = metric.value;
  run["counts"] = counts(r);
  run["network"] = network(r);
  for (const machine::MessageCount &message : r.messages)
    run["messages"][message.name] = {{"sent", message.sent}, {"delivered", message.delivered}};
  ordered_json rows = ordered_json::object();
  for (const machine::RowCount &row : r.rows)
    rows[row.controller].push_back(row.taken);
  run["rows"] = rows;
  run["energy"] = energy(r);
  run["host"] = {
      {"cpu_s", r.host_cpu_s},
      {"accesses", r.host_accesses},
      {"accesses_per_cpu_s",
       r.host_cpu_s > 0 ? static_cast<double>(r.host_accesses) / r.host_cpu_s : 0.0},
      {"cpu_ns_per_access",
       r.host_accesses > 0 ? r.host_cpu_s * 1e9 / static_cast<double>(r.host_accesses) : 0.0},
      {"peak_memory_bytes", r.memory_bytes}};
  return run;
}

ordered_json to_json(const machine::Configuration &configuration,
                     const std::vector<RunResult> &results, unsigned seeds) {
  ordered_json file;
  file["version"] = kResultVersion;
  file["configuration"] = {{"name", configuration.name}, {"toml", machine::to_toml(configuration)}};
  file["complete"] = results.size() == seeds;
  for (const RunResult &result : results)
    if (!result.complete)
      file["complete"] = false;
  ordered_json summary = ordered_json::object();
  if (!results.empty())
    for (const Metric &metric : machine::metrics(results.front())) {
      const Estimate over = machine::estimate(values_of(results, metric.name));
      summary[metric.name] = {{"unit", metric.unit}, {"mean", over.mean}};
      if (over.half_width)
        summary[metric.name]["half_width_95"] = *over.half_width;
      else
        summary[metric.name]["half_width_95"] = nullptr;
    }
  file["metrics"] = summary;
  file["runs"] = ordered_json::array();
  for (const RunResult &result : results)
    file["runs"].push_back(to_json(result));
  return file;
}

std::string shown(double value) {
  const double size = std::abs(value);
  if (size >= 10'000 && size < 1e15)
    return thousands(static_cast<std::uint64_t>(std::llround(size)));
  return fmt::format("{:.{}f}", value, size >= 100 ? 1 : size >= 1 ? 2 : 4);
}

std::string shown(const std::vector<double> &values) {
  const Estimate over = machine::estimate(values);
  return over.half_width ? fmt::format("{} ± {}", shown(over.mean), shown(*over.half_width))
                         : shown(over.mean);
}

std::string csv_text(const std::string &text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos)
    return text;
  std::string result = "\"";
  for (const char c : text)
    result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + "\"";
}

std::string csv_metrics(const std::string &first, const std::vector<RunResult> &results) {
  std::string text;
  for (const RunResult &result : results)
    for (const Metric &metric : machine::metrics(result))
      text += fmt::format("{},{},{},{},{}\n", first, result.seed, metric.name,
                          csv_text(metric.unit), metric.value);
  return text;
}

std::string csv_intervals(const std::vector<RunResult> &results) {
  const auto shown_of = [](const Metric &metric) { return metric.name != "busiest_link_percent"; };
  std::string text;
  for (const RunResult &result : results) {
    std::uint64_t accesses = 0;
    std::uint64_t cycles = 0;
    for (const RunResult &interval : result.intervals) {
      const std::vector<Metric> metrics = machine::metrics(interval);
      if (text.empty()) {
        text = "seed,until_access,until_cycle";
        for (const Metric &metric : metrics)
          text += shown_of(metric) ? "," + metric.name : "";
        text += "\n";
      }
      accesses += interval.accesses;
      cycles += interval.cycles;
      text += fmt::format("{},{},{}", result.seed, accesses, cycles);
      for (const Metric &metric : metrics)
        text += shown_of(metric) ? fmt::format(",{}", metric.value) : "";
      text += "\n";
    }
  }
  return text;
}

std::string to_text(const std::vector<RunResult> &results, const Terminal &terminal) {
  const RunResult &first = results.front();
  std::string text = fmt::format(
      "{} on {}, {}{}\n", first.protocol, printable(first.configuration), printable(first.workload),
      results.size() > 1
          ? fmt::format(", {} seeds (mean ± 95% confidence interval)", results.size())
          : fmt::format(", seed {}", first.seed));
  for (const RunResult &result : results)
    if (!result.complete)
      text +=
          fmt::format("seed {} was interrupted after {} accesses; its figures are of that part\n",
                      result.seed, thousands(result.accesses));
  using Align = Column::Align;
  Table table({{"", Align::left}, {"", Align::right}, {"", Align::left}});
  for (const Metric &metric : machine::metrics(first))
    table.add({metric.label, shown(values_of(results, metric.name)), metric.unit});
  text += table.text(terminal);
  Table energy({{"energy (first seed)", Align::left},
                {"dynamic uJ", Align::right},
                {"static uJ", Align::right}});
  for (const machine::EnergyPart &part : first.energy.parts)
    energy.add({part.name, shown(part.dynamic_uj), shown(part.static_uj)});
  text += "\n" + energy.text(terminal);
  text += "\nwhere the energies come from:\n";
  for (const std::string &source : machine::energy_sources())
    text += "  - " + wrap(source, terminal.width, 4) + "\n";
  return text;
}

} // namespace tandem::machine_cli
