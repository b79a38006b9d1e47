// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A two-dimensional mesh with dimension-order routing (columns first) and reservation at every hop:
// when the head of a packet reaches a router, the packet reserves the output link it needs for as
// many cycles as it has flits, after those that reserved it before. A packet for several tiles
// splits where its routes part (native tree multicast), or leaves its source as one packet for each
// tile (unicast only).
//
// A packet without contention takes h * (router + link) + router + flits cycles over h hops: its
// head passes each router and each link, and its flits leave the last router one a cycle. A packet
// that finds its output taken goes through the router's full pipeline (loaded_router_cycles).
// Buffers are not a limit, unless the shape has credits (buffered.h). Without, where a packet waits
// longer than the configured buffer could have held what comes behind it, the statistics count it
// (buffer_overruns), so that a run whose result rests on that assumption can be told.
//
// Packets between two tiles arrive in the order in which they were sent; with credits, those of one
// virtual network do. One link serves its packets first come, first served, whatever their virtual
// network; with credits, those that have room behind it.
//
// For one thread; no operation but the constructor allocates.
// Source: FLASK (CLUSTER'14), Table I and section V.A: 4x4 mesh, 1-cycle links of 16 bytes, routers
// of 1 to 3 cycles, DOR, native multicast.
#pragma once

#include "machine/network/buffered.h"
#include "machine/network/packets.h"

#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <vector>

namespace tandem::machine {

// The mesh of `tiles` (1 to 64): as square as it goes. It can have more routers than tiles.
MeshShape mesh_for(std::uint32_t tiles);

class Mesh {
public:
  explicit Mesh(const MeshShape &shape);

  [[nodiscard]] const MeshShape &shape() const { return shape_; }
  [[nodiscard]] std::uint32_t routers() const { return shape_.columns * shape_.rows; }
  [[nodiscard]] const MeshStatistics &statistics() const { return statistics_; }
  void reset_statistics();

  // Links of DOR between two tiles.
  [[nodiscard]] std::uint32_t distance(std::uint32_t from, std::uint32_t to) const;
  // Cycles of a packet that meets nothing.
  [[nodiscard]] Cycle zero_load_latency(std::uint32_t from, std::uint32_t to,
                                        std::uint32_t flits) const;
  // Flits that the busiest link between two routers carried.
  [[nodiscard]] std::uint64_t busiest_link() const;

  // A packet of `flits` (1 to 63) leaves `source` for `targets` (not empty). `host` provides
  //   void hop(Cycle at, const Hop &hop)       calls arrive(host, at, hop) at that cycle
  //   void delivery(Cycle at, std::uint32_t packet, std::uint32_t tile)
  // and gets one delivery for each target, with the cycle of the packet's last flit.
  template <typename Host>
  void inject(Host &host, Cycle now, std::uint32_t source, std::uint32_t packet,
              std::uint64_t targets, std::uint32_t flits, std::uint32_t network) {
    MeshStatistics::Network &counts = statistics_.networks[network];
    ++counts.packets;
    counts.multicasts += std::has_single_bit(targets) ? 0 : 1;
    if (shape_.multicast) {
      enter(host, now,
            {targets, packet, static_cast<std::uint16_t>(source), static_cast<std::uint16_t>(flits),
             static_cast<std::uint16_t>(network), 0});
      return;
    }
    for (std::uint64_t rest = targets; rest != 0; rest &= rest - 1)
      enter(host, now,
            {rest & (~rest + 1), packet, static_cast<std::uint16_t>(source),
             static_cast<std::uint16_t>(flits), static_cast<std::uint16_t>(network), 0});
  }

  // The head of a packet's copy is at hop.router.
  template <typename Host> void arrive(Host &host, Cycle now, const Hop &hop) {
    if (buffered_) [[unlikely]] {
      buffered_->happen(host, now, hop, statistics_);
      return;
    }
    statistics_.buffer_flits += hop.flits;
    const MeshRoutes &routes = routes_[hop.router];
    for (std::uint32_t port = 0; port < kLocalPort; ++port)
      if (const std::uint64_t branch = hop.targets & routes.reached[port]; branch != 0)
        forward(host, now, hop, port, branch);
    if (((hop.targets >> hop.router) & 1) != 0)
      eject(host, now, hop);
  }

private:
  struct Router {
    std::array<Cycle, kPorts> free{}; // when each output can take the next flit
    std::array<std::uint64_t, kPorts> flits{};
    Cycle injection_free = 0;
  };

  // The first cycle in which the packet may use an output, reserved.
  Cycle reserve(Cycle now, const Hop &hop, std::uint32_t port) {
    Router &router = routers_[hop.router];
    Cycle start = now + shape_.router_cycles;
    if (router.free[port] > start) {
      start = std::max(router.free[port], now + shape_.loaded_router_cycles);
      ++statistics_.waits;
      statistics_.wait_cycles += start - now - shape_.router_cycles;
      statistics_.buffer_overruns += start - now > shape_.buffer_flits ? 1 : 0;
    }
    router.free[port] = start + hop.flits;
    router.flits[port] += hop.flits;
    statistics_.router_flits += hop.flits;
    return start;
  }

  template <typename Host> void enter(Host &host, Cycle now, Hop hop) {
    statistics_.networks[hop.network].flits += hop.flits;
    Cycle &free = routers_[hop.router].injection_free;
    const Cycle start = std::max(now, free);
    free = start + hop.flits;
    hop.age = aged(0, start - now);
    if (buffered_) [[unlikely]]
      buffered_->enter(host, now, start, hop, statistics_);
    else if (start == now)
      arrive(host, now, hop);
    else
      host.hop(start, hop);
  }

  template <typename Host>
  void forward(Host &host, Cycle now, const Hop &hop, std::uint32_t port, std::uint64_t branch) {
    const Cycle at = reserve(now, hop, port) + shape_.link_cycles;
    statistics_.networks[hop.network].link_flits += hop.flits;
    Hop next = hop;
    next.targets = branch;
    next.router = static_cast<std::uint16_t>(routes_[hop.router].neighbour[port] & 63U);
    next.age = aged(hop.age, at - now);
    host.hop(at, next);
  }

  template <typename Host> void eject(Host &host, Cycle now, const Hop &hop) {
    const Cycle at = reserve(now, hop, kLocalPort) + hop.flits;
    MeshStatistics::Network &counts = statistics_.networks[hop.network];
    ++counts.deliveries;
    counts.latency += hop.age + (at - now);
    host.delivery(at, hop.packet, hop.router);
  }

  MeshShape shape_;
  std::vector<MeshRoutes> routes_;
  std::vector<Router> routers_;
  std::optional<BufferedRouters> buffered_;
  MeshStatistics statistics_;
};

} // namespace tandem::machine
