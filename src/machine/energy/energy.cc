// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/energy/energy.h"

#include <array>
#include <cmath>
#include <span>

namespace tandem::machine {
namespace {

// One point of a table: energies in pJ, leakage in mW, for 32 nm and 22 nm.
struct Point {
  double size; // KiB, sets or rows
  std::array<ArrayEnergy, 2> at;
};

// CACTI 7, 350 K, ITRS-HP, no ECC, optimised for ED^2.
constexpr std::array<Point, 4> kBlockArrays = {{
    {32, {{{18.6, 46.3, 1.35, 10.8}, {9.9, 24.0, 0.62, 5.2}}}},
    {256, {{{79.4, 133, 4.7, 78}, {43.6, 65.7, 2.9, 37.6}}}},
    {1024, {{{189, 215, 11.6, 295}, {99.7, 113, 3.3, 146}}}},
    {2048, {{{289, 356, 18.0, 589}, {156, 188, 9.4, 287}}}},
}};
// An 8-byte access of a 32 KB, 4-way L1.
constexpr Point kWordArray = {32, {{{10.2, 9.7, 1.35, 10.8}, {4.3, 4.2, 0.62, 5.2}}}};
// A directory of 8 ways with 8-byte entries, by sets. 64 and 128 sets at 22 nm as printed there.
constexpr std::array<Point, 6> kDirectories = {{
    {32, {{{5.1, 6.3, 5.1, 1.5}, {2.3, 3.0, 2.3, 0.7}}}},
    {64, {{{5.7, 8.9, 5.7, 2.5}, {2.7, 4.4, 2.7, 1.2}}}},
    {128, {{{6.8, 14.0, 6.8, 4.5}, {3.4, 7.0, 3.4, 2.2}}}},
    {256, {{{9.8, 15.2, 9.8, 8.4}, {5.0, 7.6, 5.0, 4.1}}}},
    {512, {{{14.4, 26.0, 14.4, 16.1}, {7.6, 13.2, 7.6, 7.8}}}},
    {1024, {{{21.6, 22.3, 21.6, 31.2}, {12.7, 10.1, 12.7, 14.2}}}},
}};
// A sub-table of the filter with rows of 16 bytes, by rows.
constexpr std::array<Point, 4> kSubTables = {{
    {32, {{{1.33, 1.67, 1.33, 0.20}, {0.64, 0.81, 0.64, 0.10}}}},
    {64, {{{1.43, 2.17, 1.43, 0.39}, {0.69, 1.07, 0.69, 0.19}}}},
    {128, {{{1.65, 3.23, 1.65, 0.74}, {0.81, 1.62, 0.81, 0.37}}}},
    {256, {{{2.00, 5.24, 2.00, 1.46}, {1.45, 2.04, 1.45, 0.68}}}},
}};
constexpr double kFitExponent = 0.66;

double between(double left, double right, double share) {
  return std::exp(std::log(left) + share * (std::log(right) - std::log(left)));
}

// A power law between neighbouring points; beyond the ends with the exponent of the fit, leakage in
// proportion to the size.
ArrayEnergy at_size(std::span<const Point> points, double size, std::size_t technology) {
  const auto beyond = [&](const Point &end) {
    const double factor = std::pow(size / end.size, kFitExponent);
    const ArrayEnergy &e = end.at[technology];
    return ArrayEnergy{e.read * factor, e.write * factor, e.tag * factor,
                       e.leakage * size / end.size};
  };
  if (size <= points.front().size)
    return beyond(points.front());
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (size > points[i].size)
      continue;
    const double share =
        std::log(size / points[i - 1].size) / std::log(points[i].size / points[i - 1].size);
    const ArrayEnergy &low = points[i - 1].at[technology];
    const ArrayEnergy &high = points[i].at[technology];
    return {between(low.read, high.read, share), between(low.write, high.write, share),
            between(low.tag, high.tag, share), between(low.leakage, high.leakage, share)};
  }
  return beyond(points.back());
}

ArrayEnergy scaled(const ArrayEnergy &e, double factor) {
  return {e.read * factor, e.write * factor, e.tag * factor, e.leakage * factor};
}

double millijoules_to_micro(double milliwatts, double seconds) {
  return milliwatts * 1e3 * seconds;
}

} // namespace

double block_read_energy(Technology technology, double kib) {
  return at_size(kBlockArrays, kib, static_cast<std::size_t>(technology)).read;
}

EnergyTable energy_table(const Configuration &c, bool filter) {
  const auto t = static_cast<std::size_t>(c.energy.technology);
  EnergyTable table;
  const double l1 = std::pow(c.l1d.size_kib / 32.0, kFitExponent);
  table.l1 = scaled(kWordArray.at[t], l1);
  table.l1.leakage = kWordArray.at[t].leakage * c.l1d.size_kib / 32.0;
  table.l1_block = at_size(kBlockArrays, c.l1d.size_kib, t);
  table.l2 = at_size(kBlockArrays, c.l2.size_kib, t);
  table.llc = at_size(kBlockArrays, c.llc.size_kib, t);
  // The table has 8 ways; fewer or more cost in proportion.
  const double ways = (c.directory.ways - (filter ? c.filter.sub_tables : 0)) / 8.0;
  table.directory = scaled(at_size(kDirectories, c.directory_sets(), t), ways);
  table.filter = at_size(kSubTables, c.directory_sets(), t);
  const bool deep = c.energy.router_buffer_flits == 90;
  const double buffer_write[2] = {deep ? 16.1 : 3.38, deep ? 4.80 : 1.61};
  const double buffer_read[2] = {deep ? 21.2 : 3.16, deep ? 4.48 : 1.44};
  const double crossbar[2] = {1.17, 0.54};
  const double allocation[2] = {deep ? 0.15 : 0.18, deep ? 0.07 : 0.08};
  const double flit_bits = c.network.link_bytes / 16.0; // the figures are for 128 bits
  table.buffer_flit = buffer_write[t] * flit_bits;
  table.router_flit = (buffer_read[t] + crossbar[t] + allocation[t]) * flit_bits;
  const double link[2] = {4.1, 3.0}; // a millimetre
  table.link_flit = link[t] * flit_bits * c.energy.link_um / 1000.0;
  const double clock[2] = {0.565, 0.315};
  table.router_clock = clock[t];
  const double leakage[2] = {deep ? 153 : 35.7, deep ? 103 : 30.6};
  table.router_leakage = leakage[t];
  // ACT+PRE 3.45 nJ, burst 2.93 or 2.55 nJ, 2.5 nJ of I/O (an assumption: 4 to 6 pJ a bit).
  table.memory_read = 3450 + 2930 + 2500;
  table.memory_write = 3450 + 2550 + 2500;
  return table;
}

EnergyReport energy_report(const Configuration &c, bool bus, bool filter, const Statistics &s,
                           const MeshStatistics &network, std::uint32_t routers, Cycle cycles) {
  const EnergyTable table = energy_table(c, filter);
  EnergyReport report;
  report.seconds = static_cast<double>(cycles) / (c.clock_mhz * 1e6);
  const auto add = [&](std::string name, double dynamic_pj, double leakage_mw) {
    report.parts.push_back(
        {std::move(name), dynamic_pj * 1e-6, millijoules_to_micro(leakage_mw, report.seconds)});
  };
  const auto n = [](std::uint64_t count) { return static_cast<double>(count); };
  const double cores = c.cores;
  const double slices = c.slices();
  const CoreStatistics &core = s.core;
  // Every access looks into its L1; what comes from elsewhere is written there as a block; a probe
  // looks up the tags of both L1s and of the L2, and reads the data that leaves from the L2's side
  // in half of the cases it is in an L1: charged as L2.
  add("l1",
      n(core.loads + core.fetches) * table.l1.read + n(core.stores) * table.l1.write +
          n(core.l2_hits + core.fills) * table.l1_block.write +
          n(core.l2_hits + core.fills) * table.l1_block.read + n(core.probes) * 2 * table.l1.tag,
      2 * table.l1.leakage * cores);
  add("l2",
      n(core.accesses() - core.l1_hits) * table.l2.tag + n(core.l2_hits) * table.l2.read +
          n(core.l2_hits + core.fills) * table.l2.write + n(core.probes) * table.l2.tag +
          n(core.data_reads) * table.l2.read,
      table.l2.leakage * cores);
  const HomeStatistics &home = s.home;
  if (!bus) {
    add("llc",
        n(home.llc_tags) * table.llc.tag + n(home.llc_reads) * table.llc.read +
            n(home.llc_writes) * table.llc.write,
        table.llc.leakage * slices);
    add("directory",
        n(home.directory_reads) * table.directory.read +
            n(home.directory_writes) * table.directory.write,
        table.directory.leakage * slices);
    if (filter)
      add("filter",
          c.filter.sub_tables *
              (n(home.filter_lookups + home.filter_inserts + home.filter_removes) *
                   table.filter.read +
               n(home.filter_inserts + home.filter_removes) / c.filter.sub_tables *
                   table.filter.write),
          c.filter.sub_tables * table.filter.leakage * slices);
    add("routers",
        n(network.router_flits) * table.router_flit + n(network.buffer_flits) * table.buffer_flit +
            n(cycles) * routers * table.router_clock,
        table.router_leakage * routers);
    add("links", n(network.total().link_flits) * table.link_flit, 0);
  } else {
    const double flits = n(s.bus.data_blocks) * c.data_flits() +
                         n(s.bus.grants + s.bus.refused + s.bus.control_messages);
    add("bus", flits * cores * table.link_flit, 0);
  }
  for (const EnergyPart &part : report.parts) {
    report.dynamic_uj += part.dynamic_uj;
    report.static_uj += part.static_uj;
  }
  add("memory", n(s.memory.reads) * table.memory_read + n(s.memory.writes) * table.memory_write, 0);
  if (c.energy.count_memory)
    report.dynamic_uj += report.parts.back().dynamic_uj;
  report.edp = (report.dynamic_uj + report.static_uj) * report.seconds;
  return report;
}

std::vector<std::string> energy_sources() {
  return {
      "arrays: CACTI 7, run for this project at 350 K, ITRS-HP cells, no ECC, optimised for ED^2; "
      "L2 and LLC sequential (tags first)",
      "between the sizes that were run: a power law; beyond them E ~ C^0.66, which is within 8% of "
      "CACTI at 256 KB, 3% at 1 MB, 1% at 2 MB (32 nm)",
      "directory: 8-way, 8-byte entries; other numbers of ways in proportion (not run)",
      "routers and links: DSENT 0.91, LVT, 3 GHz, 5 ports, 128-bit flits; buffers as DSENT models "
      "them, of flip-flops",
      "DRAM: arithmetic on DRAMsim3's DDR4_8Gb_x8_2400 currents, every access with a row miss, 2.5 "
      "nJ of I/O assumed; current-based models are known to be off for real modules (Ghose et al., "
      "arXiv 1807.05102); background and refresh are left out",
      "bus: no figures of its own; a transfer is charged as its flits over one link for each core",
      "ratios between protocols on one machine are meaningful; absolute values are not claimed",
  };
}

} // namespace tandem::machine
