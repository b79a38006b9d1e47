// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A machine as data: its cores, caches, directory, network, memory and the figures of its energy.
// Configurations are TOML files; what each field means, its unit, default and range are in one
// table (fields.h), from which they are read, checked, printed and documented.
#pragma once

#include "base/result.h"
#include "machine/cache/array.h"
#include "machine/filter/presence.h"
#include "machine/htm/options.h"
#include "machine/network/mesh.h"

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tandem::machine {

inline constexpr std::uint32_t kBlockBytes = 64;

enum class CoreModel : std::uint8_t {
  in_order, // waits for each miss
  window,   // goes on until its window or its outstanding misses are full
};

struct CoreConfiguration {
  CoreModel model = CoreModel::window;
  std::uint32_t issue_width = 6;         // instructions a cycle that are no memory accesses
  std::uint32_t window = 196;            // instructions in flight
  std::uint32_t outstanding = 64;        // misses of a core
  std::uint32_t dependent_percent = 40;  // loads whose value the core needs at once
  std::uint32_t reservation_window = 64; // cycles that a block is kept for a store-conditional
};

// In which order the stores of a hart that wait in its buffer are written.
enum class StoreOrder : std::uint8_t {
  in_order,
  weak, // one whose line may be written already goes before older ones of other lines
};

struct HartConfiguration {
  CoreModel model = CoreModel::in_order; // window: with the limits of CoreConfiguration and these
  std::uint32_t integer_units = 4;       // operations of a kind that begin in a cycle
  std::uint32_t float_units = 4;
  std::uint32_t memory_units = 4;
  std::uint32_t multiply_cycles = 3; // until the result is there; of all other integers: 1
  std::uint32_t divide_cycles = 20;
  std::uint32_t float_cycles = 4;
  std::uint32_t float_divide_cycles = 20; // and square roots
  std::uint32_t store_buffer = 0;         // stores of a hart that wait; 0: sequentially consistent
  StoreOrder store_order = StoreOrder::in_order;
};

struct CacheConfiguration {
  std::uint32_t size_kib = 32;
  std::uint32_t ways = 4;
  std::uint32_t latency = 1; // cycles
  Replacement replacement = Replacement::lru;

  // Sets of an array of this size with 64-byte blocks.
  [[nodiscard]] std::uint32_t sets() const { return size_kib * 1024 / kBlockBytes / ways; }
  [[nodiscard]] std::uint32_t blocks() const { return size_kib * 1024 / kBlockBytes; }
};

struct DirectoryConfiguration {
  std::uint32_t provision_permille = 1600; // of the blocks of the private caches of one core
  std::uint32_t ways = 8;                  // rows of SRAM of a set, the filter's included
  std::uint32_t latency = 2;               // cycles, of a slice for a message without data
  Replacement replacement = Replacement::lru;
};

// A bucket is one row of a directory way (FLASK, section IV.A: "each bucket uses 128 bits").
inline constexpr std::uint32_t kFilterRowBits = 128;

struct FilterConfiguration {
  filter::Kind kind = filter::Kind::d_left;
  std::uint32_t sub_tables = 4; // of the directory's ways, in protocols that have a filter
  std::uint32_t cells = 8;
  std::uint32_t remainder_bits = 9;
  std::uint32_t counter_bits = 3;
  std::uint32_t repartition_interval = 0; // requests of a slice between two looks; 0: never
};

struct MemoryConfiguration {
  std::uint32_t controllers = 4;
  std::uint32_t latency = 240;              // cycles
  std::uint32_t bandwidth_mb_per_s = 32000; // of one controller
};

enum class NetworkKind : std::uint8_t { mesh, bus };

struct NetworkConfiguration {
  NetworkKind kind = NetworkKind::mesh;
  std::uint32_t columns = 0; // 0: as square as it goes
  std::uint32_t router_cycles = 1;
  std::uint32_t loaded_router_cycles = 3;
  std::uint32_t link_cycles = 1;
  std::uint32_t link_bytes = 16;
  bool multicast = true;
  std::uint32_t buffer_flits = 90;
  bool credits = false;     // buffers are a limit
  std::uint32_t jitter = 0; // cycles, at most, that a message is held back at random
};

struct BusConfiguration {
  std::uint32_t slot_cycles = 2;   // between two address transactions
  std::uint32_t snoop_cycles = 4;  // from the grant to the answer of all caches
  std::uint32_t data_bytes = 16;   // of the data bus, a cycle
  std::uint32_t retry_cycles = 20; // until a refused request comes again
};

enum class Technology : std::uint8_t { nm32, nm22 };

struct EnergyConfiguration {
  Technology technology = Technology::nm22;
  std::uint32_t link_um = 1000;           // length of a link between routers
  std::uint32_t router_buffer_flits = 24; // of a port: which DSENT router is charged
  bool count_memory = false;              // DRAM in the energy-delay product
};

struct Configuration {
  std::string name = "default";
  std::string title;
  std::uint32_t cores = 16;
  std::uint32_t clock_mhz = 3000;
  CoreConfiguration core;
  HartConfiguration hart; // of harts with time only
  CacheConfiguration l1i;
  CacheConfiguration l1d;
  CacheConfiguration l2{256, 8, 2, Replacement::lru};
  bool l2_inclusive = false;
  CacheConfiguration llc{1024, 16, 6, Replacement::lru}; // of one slice
  std::uint32_t llc_slices = 0;                          // 0: one a core
  DirectoryConfiguration directory;
  FilterConfiguration filter;
  MemoryConfiguration memory;
  NetworkConfiguration network;
  BusConfiguration bus;
  EnergyConfiguration energy;
  HtmOptions htm; // of hardware transactions
  // Options of protocols, as `options.PROTOCOL.NAME`: read when the protocol is known.
  std::map<std::string, std::map<std::string, std::uint64_t>> options;

  // Blocks that the private caches of one core can hold.
  [[nodiscard]] std::uint32_t private_blocks() const;
  // Home slices, each with its part of the LLC and of the directory.
  [[nodiscard]] std::uint32_t slices() const { return llc_slices == 0 ? cores : llc_slices; }
  // The tile of a home slice: evenly over the tiles, or more than one on each.
  [[nodiscard]] std::uint32_t slice_tile(std::uint32_t slice) const;
  // Sets of a directory slice: its share of provision_permille of all private blocks / ways.
  [[nodiscard]] std::uint32_t directory_sets() const;
  [[nodiscard]] std::uint32_t data_flits() const { return 1 + kBlockBytes / network.link_bytes; }
  [[nodiscard]] MeshShape mesh() const;
  // The tile of a memory controller: spread over the first and the last row of the mesh.
  [[nodiscard]] std::uint32_t controller_tile(std::uint32_t controller) const;
};

// The names of the configurations that Tandem comes with, and one line on each.
struct NamedConfiguration {
  std::string name;
  std::string title;
};
std::vector<NamedConfiguration> named_configurations();

// `name_or_path` is a name of named_configurations() or a TOML file; it is a path where it contains
// a '/' or ends in ".toml". `settings` are "section.field=value" (TOML values), applied after it.
// Errors name the place: `file:line:column: ...` or the setting.
Result<Configuration> load_configuration(const std::string &name_or_path,
                                         const std::vector<std::string> &settings);

// The same from a text; `place` stands for the file in messages.
Result<Configuration> parse_configuration(std::string_view text, const std::string &place,
                                          const std::vector<std::string> &settings);

// The configuration as TOML, every field written out.
std::string to_toml(const Configuration &configuration);

// The table of docs/machine/configuration.md, in Markdown.
std::string configuration_reference();

} // namespace tandem::machine
