// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/configuration/fields.h"

#include <bit>

namespace tandem::machine {
namespace {

#define TANDEM_NUMBER(path, ...)                                                                   \
  NumberField {                                                                                    \
    [](Configuration &c) -> std::uint32_t & { return c.path; }, __VA_ARGS__                        \
  }
#define TANDEM_FLAG(path)                                                                          \
  FlagField {                                                                                      \
    [](Configuration &c) -> bool & { return c.path; }                                              \
  }
#define TANDEM_TEXT(path)                                                                          \
  TextField {                                                                                      \
    [](Configuration &c) -> std::string & { return c.path; }                                       \
  }
#define TANDEM_CHOICE(path, ...)                                                                   \
  ChoiceField {                                                                                    \
    {__VA_ARGS__}, [](const Configuration &c) { return static_cast<std::uint32_t>(c.path); },      \
        [](Configuration &c, std::uint32_t value) {                                                \
          c.path = static_cast<std::decay_t<decltype(c.path)>>(value);                             \
        }                                                                                          \
  }
#define TANDEM_REPLACEMENT(path) TANDEM_CHOICE(path, "lru", "fifo", "tree-plru", "random")

// clang-format off
const std::vector<Field> &table() {
  static const std::vector<Field> fields = {
    {"", "name", "", "how results call the machine", TANDEM_TEXT(name)},
    {"", "title", "", "one line about it", TANDEM_TEXT(title)},
    {"", "cores", "", "cores; each has a tile with its private caches", TANDEM_NUMBER(cores, 1, 64)},
    {"", "clock_mhz", "MHz", "the one clock of cores, caches and network", TANDEM_NUMBER(clock_mhz, 1, 100000)},

    {"core", "model", "", "`in-order` waits for every miss; `window` goes on until its window or its outstanding misses are full. Of synthetic traffic; of programs it is `hart.model`", TANDEM_CHOICE(core.model, "in-order", "window")},
    {"core", "issue_width", "instructions/cycle", "instructions between memory accesses that a cycle takes; of harts (`hart.model`) all that enter the window in a cycle", TANDEM_NUMBER(core.issue_width, 1, 16)},
    {"core", "window", "instructions", "in flight after the oldest miss (`window` only); of harts in flight at all", TANDEM_NUMBER(core.window, 1, 4096)},
    {"core", "outstanding", "misses", "of one core at once (`window` only), harts' too", TANDEM_NUMBER(core.outstanding, 1, 64)},
    {"core", "dependent_percent", "%", "loads that the instructions behind them wait for (`window` only)", TANDEM_NUMBER(core.dependent_percent, 0, 100)},
    {"core", "reservation_window", "cycles", "that a block which a load-reserved had to fetch stays, at most, until the store-conditional: what would take it away waits, a bus is refused; 0: none", TANDEM_NUMBER(core.reservation_window, 0, 10000)},

    {"hart", "model", "", "of the cores that run programs (`run --program`, `exec`, `boot`): `in-order`, an instruction a cycle; `window`, with `core.issue_width`, `window` and `outstanding`", TANDEM_CHOICE(hart.model, "in-order", "window")},
    {"hart", "integer_units", "operations/cycle", "on integers that begin (`window` only)", TANDEM_NUMBER(hart.integer_units, 1, 16)},
    {"hart", "float_units", "operations/cycle", "on floating-point numbers that begin (`window` only)", TANDEM_NUMBER(hart.float_units, 1, 16)},
    {"hart", "memory_units", "accesses/cycle", "loads and stores that begin (`window` only)", TANDEM_NUMBER(hart.memory_units, 1, 16)},
    {"hart", "multiply_cycles", "cycles", "until the product of integers is there (`window` only)", TANDEM_NUMBER(hart.multiply_cycles, 1, 100)},
    {"hart", "divide_cycles", "cycles", "until the quotient of integers is there (`window` only)", TANDEM_NUMBER(hart.divide_cycles, 1, 100)},
    {"hart", "float_cycles", "cycles", "until a floating-point result is there (`window` only)", TANDEM_NUMBER(hart.float_cycles, 1, 100)},
    {"hart", "float_divide_cycles", "cycles", "the same of divisions and square roots (`window` only)", TANDEM_NUMBER(hart.float_divide_cycles, 1, 100)},
    {"hart", "store_buffer", "stores", "of one hart that wait to be written; 0: none waits, memory is sequentially consistent. Of `exec` and `boot` only", TANDEM_NUMBER(hart.store_buffer, 0, 64)},
    {"hart", "store_order", "", "in which they are written: `in-order`; `weak` writes one whose line is at hand before older ones of other lines", TANDEM_CHOICE(hart.store_order, "in-order", "weak")},

    {"l1i", "size_kib", "KiB", "of one core's instruction cache", TANDEM_NUMBER(l1i.size_kib, 1, 65536)},
    {"l1i", "ways", "", "associativity", TANDEM_NUMBER(l1i.ways, 1, 64)},
    {"l1i", "latency", "cycles", "of a hit", TANDEM_NUMBER(l1i.latency, 1, 1000)},
    {"l1i", "replacement", "", "which line gives way", TANDEM_REPLACEMENT(l1i.replacement)},
    {"l1d", "size_kib", "KiB", "of one core's data cache", TANDEM_NUMBER(l1d.size_kib, 1, 65536)},
    {"l1d", "ways", "", "associativity", TANDEM_NUMBER(l1d.ways, 1, 64)},
    {"l1d", "latency", "cycles", "of a hit", TANDEM_NUMBER(l1d.latency, 1, 1000)},
    {"l1d", "replacement", "", "which line gives way", TANDEM_REPLACEMENT(l1d.replacement)},
    {"l2", "size_kib", "KiB", "of one core's second level, instructions and data", TANDEM_NUMBER(l2.size_kib, 1, 65536)},
    {"l2", "ways", "", "associativity", TANDEM_NUMBER(l2.ways, 1, 64)},
    {"l2", "latency", "cycles", "of a hit, after the L1 missed; also of a probe from outside", TANDEM_NUMBER(l2.latency, 1, 1000)},
    {"l2", "replacement", "", "which line gives way", TANDEM_REPLACEMENT(l2.replacement)},
    {"l2", "inclusive", "", "true: holds what the L1s hold, and takes it from them when it gives it up; false: exclusive, a victim cache", TANDEM_FLAG(l2_inclusive)},

    {"llc", "slice_kib", "KiB", "of one slice of the shared last level; not used on a bus", TANDEM_NUMBER(llc.size_kib, 1, 65536)},
    {"llc", "slices", "", "home slices: of the LLC, the directory and its filter; blocks are interleaved over them. 0: one a core", TANDEM_NUMBER(llc_slices, 0, 64)},
    {"llc", "ways", "", "associativity", TANDEM_NUMBER(llc.ways, 1, 64)},
    {"llc", "latency", "cycles", "of a slice that sends data", TANDEM_NUMBER(llc.latency, 1, 1000)},
    {"llc", "replacement", "", "which line gives way", TANDEM_REPLACEMENT(llc.replacement)},

    {"directory", "provision_percent", "%", "entries of all slices for each block that the private caches of all cores can hold; decides the number of sets", TANDEM_NUMBER(directory.provision_permille, 1, 400, 10)},
    {"directory", "ways", "", "rows of SRAM of a set: directory ways and, in FLASK, sub-tables of the filter", TANDEM_NUMBER(directory.ways, 1, 64)},
    {"directory", "latency", "cycles", "of a slice that sends no data", TANDEM_NUMBER(directory.latency, 0, 1000)},
    {"directory", "replacement", "", "which entry gives way", TANDEM_REPLACEMENT(directory.replacement)},

    {"filter", "kind", "", "of the filter in front of reconstructions, in protocols that have one", TANDEM_CHOICE(filter.kind, "always-hit", "exact", "counting-bloom", "d-left")},
    {"filter", "sub_tables", "", "of the directory's ways that the filter takes (the rest are directory)", TANDEM_NUMBER(filter.sub_tables, 0, 8)},
    {"filter", "cells", "", "of a bucket (`d-left`)", TANDEM_NUMBER(filter.cells, 1, 16)},
    {"filter", "remainder_bits", "bits", "of a cell (`d-left`)", TANDEM_NUMBER(filter.remainder_bits, 1, 15)},
    {"filter", "counter_bits", "bits", "of a cell (`d-left`)", TANDEM_NUMBER(filter.counter_bits, 1, 8)},
    {"filter", "repartition_interval", "requests", "of a slice after which it may move a way between directory and filter (`d-left`); 0: never", TANDEM_NUMBER(filter.repartition_interval, 0, 1000000000)},

    {"memory", "controllers", "", "memory controllers; blocks are interleaved over them by page", TANDEM_NUMBER(memory.controllers, 1, 16)},
    {"memory", "latency", "cycles", "of a read", TANDEM_NUMBER(memory.latency, 1, 100000)},
    {"memory", "bandwidth_mb_per_s", "MB/s", "of one controller", TANDEM_NUMBER(memory.bandwidth_mb_per_s, 1, 4000000)},

    {"network", "kind", "", "`mesh` for protocols with a home, `bus` for snooping", TANDEM_CHOICE(network.kind, "mesh", "bus")},
    {"network", "columns", "tiles", "of the mesh; 0: as square as it goes", TANDEM_NUMBER(network.columns, 0, 64)},
    {"network", "router_cycles", "cycles", "through a router whose output is free", TANDEM_NUMBER(network.router_cycles, 1, 100)},
    {"network", "loaded_router_cycles", "cycles", "through a router whose output is taken, at least", TANDEM_NUMBER(network.loaded_router_cycles, 1, 100)},
    {"network", "link_cycles", "cycles", "of a link between routers", TANDEM_NUMBER(network.link_cycles, 1, 100)},
    {"network", "link_bytes", "bytes", "of a flit: a link takes one a cycle", TANDEM_NUMBER(network.link_bytes, 4, 64)},
    {"network", "multicast", "", "true: routers copy a packet where its routes part; false: the source sends one for each target", TANDEM_FLAG(network.multicast)},
    {"network", "buffer_flits", "flits", "of a port, shared out to the virtual networks; without credits it only counts packets that would not have fitted", TANDEM_NUMBER(network.buffer_flits, 1, 65535)},
    {"network", "credits", "", "true: packets wait for room in the buffers behind a link; false: buffers are no limit", TANDEM_FLAG(network.credits)},
    {"network", "jitter", "cycles", "at most, by which each message is delayed at random: messages overtake each other", TANDEM_NUMBER(network.jitter, 0, 1000)},

    {"bus", "slot_cycles", "cycles", "between two grants of the address bus", TANDEM_NUMBER(bus.slot_cycles, 1, 1000)},
    {"bus", "snoop_cycles", "cycles", "from the request of a free bus to the answer of all caches", TANDEM_NUMBER(bus.snoop_cycles, 1, 1000)},
    {"bus", "data_bytes", "bytes", "that the data bus moves in a cycle", TANDEM_NUMBER(bus.data_bytes, 1, 64)},
    {"bus", "retry_cycles", "cycles", "until a request that a cache has refused comes again", TANDEM_NUMBER(bus.retry_cycles, 1, 10000)},

    {"htm", "policy", "", "which transaction of a conflict restarts", TANDEM_CHOICE(htm.policy, "polite", "karma", "eruption", "kindergarten", "timestamp", "polka", "size-matters")},
    {"htm", "backoff", "", "how long a loser waits", TANDEM_CHOICE(htm.backoff, "none", "linear", "exponential", "random", "square")},
    {"htm", "granularity", "", "of conflicts", TANDEM_CHOICE(htm.granularity, "byte", "line")},
    {"htm", "stall", "", "true: an access that meets a conflict waits, and the policy only breaks cycles", TANDEM_FLAG(htm.stall)},
    {"htm", "retry_cycles", "cycles", "until a stalled access is tried again", TANDEM_NUMBER(htm.retry_cycles, 1, 100000)},
    {"htm", "stall_limit", "cycles", "after which a stall ends as a loss", TANDEM_NUMBER(htm.stall_limit, 1, 1000000000)},
    {"htm", "commit_cycles", "cycles", "that a commit costs", TANDEM_NUMBER(htm.commit_cycles, 0, 1000000)},
    {"htm", "abort_cycles", "cycles", "that an abort costs the loser", TANDEM_NUMBER(htm.abort_cycles, 0, 1000000)},
    {"htm", "overflow_cycles", "cycles", "of an attempt's first line that leaves the caches", TANDEM_NUMBER(htm.overflow_cycles, 0, 1000000)},

    {"energy", "technology_nm", "nm", "which table of energies is used", TANDEM_CHOICE(energy.technology, "32", "22")},
    {"energy", "link_um", "um", "length of a link between routers", TANDEM_NUMBER(energy.link_um, 1, 100000)},
    {"energy", "router_buffer_flits", "flits", "of a port of the router that is charged: 24 or 90", TANDEM_NUMBER(energy.router_buffer_flits, 24, 90)},
    {"energy", "count_memory", "", "true: DRAM counts in the energy-delay product", TANDEM_FLAG(energy.count_memory)},
  };
  return fields;
}
// clang-format on

std::optional<Inconsistency> check_cache(std::string_view section, std::string_view size_name,
                                         const CacheConfiguration &cache) {
  const std::uint32_t blocks = cache.blocks();
  if (blocks % cache.ways != 0)
    return Inconsistency{
        section, "ways",
        fmt::format("{} blocks of 64 bytes ({} = {}) are not a multiple of {} ways", blocks,
                    size_name, cache.size_kib, cache.ways)};
  if (cache.replacement == Replacement::tree_plru && !std::has_single_bit(cache.ways))
    return Inconsistency{section, "replacement",
                         fmt::format("tree-plru needs a power of two of ways, not {}", cache.ways)};
  return std::nullopt;
}

std::optional<Inconsistency> check_directory(const Configuration &c) {
  if (c.filter.sub_tables >= c.directory.ways)
    return Inconsistency{"filter", "sub_tables",
                         fmt::format("{} sub-tables leave no way of {} to the directory",
                                     c.filter.sub_tables, c.directory.ways)};
  if (c.directory_sets() == 0)
    return Inconsistency{"directory", "provision_percent",
                         fmt::format("{}% of {} private blocks are less than one set of {} ways",
                                     c.directory.provision_permille / 10.0, c.private_blocks(),
                                     c.directory.ways)};
  if (c.filter.remainder_bits + c.filter.counter_bits > 16)
    return Inconsistency{"filter", "remainder_bits",
                         fmt::format("a cell of {} + {} bits; at most 16 with the counter's",
                                     c.filter.remainder_bits, c.filter.counter_bits)};
  if (c.filter.cells * (c.filter.remainder_bits + c.filter.counter_bits) > kFilterRowBits)
    return Inconsistency{"filter", "cells",
                         fmt::format("{} cells of {} + {} bits do not fit into a row of {} bits",
                                     c.filter.cells, c.filter.remainder_bits, c.filter.counter_bits,
                                     kFilterRowBits)};
  if (c.filter.repartition_interval != 0 && c.filter.kind != filter::Kind::d_left)
    return Inconsistency{"filter", "repartition_interval",
                         "only a filter of kind 'd-left' can be repartitioned"};
  if (c.filter.repartition_interval != 0 && c.directory.ways > filter::kMaxSubTables)
    return Inconsistency{
        "filter", "repartition_interval",
        fmt::format("a filter has at most {} sub-tables; the directory has {} ways",
                    filter::kMaxSubTables, c.directory.ways)};
  if (c.directory.replacement == Replacement::tree_plru && !std::has_single_bit(c.directory.ways))
    return Inconsistency{
        "directory", "replacement",
        fmt::format("tree-plru needs a power of two of ways, not {}", c.directory.ways)};
  return std::nullopt;
}

std::optional<Inconsistency> check_hart(const Configuration &c) {
  if (c.hart.model == CoreModel::window && c.hart.store_buffer != 0)
    return Inconsistency{"hart", "store_buffer",
                         "cores with a window have no other buffer of stores: it must be 0"};
  return std::nullopt;
}

std::optional<Inconsistency> check_network(const Configuration &c) {
  if (!std::has_single_bit(c.network.link_bytes))
    return Inconsistency{"network", "link_bytes", "must be a power of two"};
  if (c.network.loaded_router_cycles < c.network.router_cycles)
    return Inconsistency{"network", "loaded_router_cycles", "must not be below router_cycles"};
  if (c.network.columns > c.cores)
    return Inconsistency{"network", "columns",
                         fmt::format("{} columns for {} cores", c.network.columns, c.cores)};
  const MeshShape shape = c.mesh();
  if (shape.columns * shape.rows > kMaxTiles)
    return Inconsistency{"network", "columns",
                         fmt::format("a mesh of {} x {} has more than {} routers", shape.columns,
                                     shape.rows, kMaxTiles)};
  if (c.network.credits && c.network.kind == NetworkKind::mesh &&
      c.network.buffer_flits / kVirtualNetworks < c.data_flits())
    return Inconsistency{"network", "buffer_flits",
                         fmt::format("{} flits a port have no room for a packet of {} in each of "
                                     "{} virtual networks",
                                     c.network.buffer_flits, c.data_flits(), kVirtualNetworks)};
  if (c.energy.router_buffer_flits != 24 && c.energy.router_buffer_flits != 90)
    return Inconsistency{"energy", "router_buffer_flits", "must be 24 or 90"};
  return std::nullopt;
}

} // namespace

std::span<const Field> configuration_fields() { return table(); }

std::string field_value(const Field &field, const Configuration &configuration) {
  // The table's accessors take a Configuration that they may change; a copy serves.
  Configuration copy = configuration;
  if (const auto *number = std::get_if<NumberField>(&field.kind)) {
    const std::uint32_t value = number->member(copy);
    return number->scale == 1 || value % number->scale == 0
               ? fmt::format("{}", value / number->scale)
               : fmt::format("{}", static_cast<double>(value) / number->scale);
  }
  if (const auto *flag = std::get_if<FlagField>(&field.kind))
    return flag->member(copy) ? "true" : "false";
  if (const auto *text = std::get_if<TextField>(&field.kind)) {
    std::string quoted = "\"";
    for (const char letter : text->member(copy)) {
      if (letter == '"' || letter == '\\')
        quoted += '\\';
      quoted += letter;
    }
    return quoted + '"';
  }
  const auto &choice = std::get<ChoiceField>(field.kind);
  const std::string_view word = choice.words[choice.get(configuration)];
  return field.name == "technology_nm" ? std::string(word) : fmt::format("\"{}\"", word);
}

std::optional<Inconsistency> inconsistency(const Configuration &c) {
  if (auto found = check_cache("l1i", "size_kib", c.l1i))
    return found;
  if (auto found = check_cache("l1d", "size_kib", c.l1d))
    return found;
  if (auto found = check_cache("l2", "size_kib", c.l2))
    return found;
  if (auto found = check_cache("llc", "slice_kib", c.llc))
    return found;
  if (c.l2_inclusive && c.l2.blocks() < c.l1i.blocks() + c.l1d.blocks())
    return Inconsistency{"l2", "inclusive", "an inclusive L2 cannot be smaller than the two L1s"};
  if (auto found = check_directory(c))
    return found;
  if (auto found = check_hart(c))
    return found;
  if (auto found = check_network(c))
    return found;
  if (c.slices() > c.cores && c.slices() % c.cores != 0)
    return Inconsistency{"llc", "slices",
                         fmt::format("{} slices on {} tiles: more slices than cores must be a "
                                     "multiple of them",
                                     c.slices(), c.cores)};
  if (c.memory.controllers > c.cores)
    return Inconsistency{"memory", "controllers",
                         fmt::format("{} controllers for {} tiles", c.memory.controllers, c.cores)};
  return std::nullopt;
}

} // namespace tandem::machine
