// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a mesh is and what it counts, whatever its routers are.
#pragma once

#include "machine/event/wheel.h"

#include <array>
#include <cstdint>

namespace tandem::machine {

inline constexpr std::uint32_t kMaxTiles = 64;
inline constexpr std::uint32_t kVirtualNetworks = 6;

struct MeshShape {
  std::uint32_t columns = 4;
  std::uint32_t rows = 4;
  Cycle router_cycles = 1;        // of a packet that finds its output free
  Cycle loaded_router_cycles = 3; // of one that does not
  Cycle link_cycles = 1;
  bool multicast = true;           // native; false: one packet for each tile
  std::uint32_t buffer_flits = 90; // of a port
  bool credits = false;            // buffers are a limit; false: buffer_overruns counts
};

// Ports are called by where packets go: east, west, north, south, and to the tile itself.
inline constexpr std::uint32_t kLocalPort = 4;
inline constexpr std::uint32_t kPorts = 5;

// Of a router, in dimension order.
struct MeshRoutes {
  std::array<std::uint64_t, 4> reached{};  // tiles that each port leads to
  std::array<std::uint8_t, 4> neighbour{}; // the router behind it
};

struct MeshStatistics {
  struct Network {
    std::uint64_t packets = 0;    // injected by controllers; a multicast is one
    std::uint64_t multicasts = 0; // of those, for more than one tile
    std::uint64_t deliveries = 0;
    std::uint64_t flits = 0;      // that entered at a source, copies of unicast-only multicasts too
    std::uint64_t link_flits = 0; // flits times links between routers
    std::uint64_t latency = 0;    // cycles, from the injection to the last flit, over deliveries
  };
  std::array<Network, kVirtualNetworks> networks{};
  std::uint64_t router_flits = 0; // flits times router outputs, the local ones too
  std::uint64_t buffer_flits = 0; // flits times routers entered
  std::uint64_t waits = 0;        // packets that found an output taken
  std::uint64_t wait_cycles = 0;
  std::uint64_t buffer_overruns = 0; // with credits: packets that waited for room

  [[nodiscard]] Network total() const;
};

// A packet's copy at a router: what the wheel carries. 16 bytes.
struct Hop {
  std::uint64_t targets = 0; // tiles, bit t: tile t
  std::uint32_t packet = 0;  // the sender's name for it
  std::uint16_t router : 6 = 0;
  std::uint16_t flits : 6 = 0;
  std::uint16_t network : 4 = 0;
  std::uint16_t age = 0; // cycles since its injection, saturating
};
static_assert(sizeof(Hop) == 16);

// Cycles since a packet's injection, saturating.
constexpr std::uint16_t aged(std::uint16_t age, Cycle cycles) {
  return static_cast<std::uint16_t>(age + cycles < 0xffff ? age + cycles : 0xffff);
}

} // namespace tandem::machine
