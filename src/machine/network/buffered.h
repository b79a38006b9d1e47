// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Routers whose input ports have room for so many flits of each virtual network, and credits for
// it: a packet goes on when the link it needs is free and the port behind it has room for all of it
// (virtual cut-through), and stays whole where it is until then. Queues are first come, first
// served; the packets of one virtual network do not wait for room that another one has taken. A
// packet whose routes part sends each branch when that can go, and leaves its port after the last.
// A credit comes back a link later than the last flit has left. Sources queue without a limit, and
// targets take everything at once.
//
// It has no deadlock: a port waits only for ports behind it on routes of dimension order, which
// have no cycle, and the last of a route only for its target.
//
// For one thread.
#pragma once

#include "base/check.h"
#include "machine/network/packets.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

namespace tandem::machine {

class BufferedRouters {
public:
  // Routes are those of the mesh. `shape.buffer_flits` are shared out evenly to the networks.
  BufferedRouters(const MeshShape &shape, const std::vector<MeshRoutes> &routes)
      : shape_(shape), routes_(routes), routers_(routes.size()) {
    for (Router &router : routers_)
      for (Output &output : router.outputs)
        output.room.fill(shape.buffer_flits / kVirtualNetworks);
  }

  // A packet that is at its source from `start` on; what hop() has announced. `host` as of Mesh.
  template <typename Host>
  void enter(Host &host, Cycle now, Cycle start, const Hop &hop, MeshStatistics &counts) {
    const std::uint32_t made = take({.hop = hop, .since = now, .port = kLocalPort});
    if (start == now)
      at_port(host, now, made, counts);
    else
      host.hop(start, event(What::arrival, hop.router, made));
  }
  template <typename Host>
  void happen(Host &host, Cycle now, const Hop &what, MeshStatistics &counts) {
    Router &router = routers_[what.router];
    switch (static_cast<What>(what.age)) {
    case What::arrival:
      copies_[what.packet].since = now;
      at_port(host, now, what.packet, counts);
      return;
    case What::next:
      leave_port(host, now, what, counts);
      return;
    case What::credit:
      router.outputs[what.packet].room[what.network] += what.flits;
      break;
    case What::link:
      router.outputs[what.packet].planned = false;
      break;
    }
    serve(host, now, what.router, what.packet, counts);
  }

  // Flits of the link between two routers that carried most.
  [[nodiscard]] std::uint64_t busiest_link() const {
    std::uint64_t most = 0;
    for (const auto &router : flits_)
      most = std::max(most, *std::max_element(router.begin(), router.end()));
    return most;
  }
  void reset_statistics() { flits_ = {}; }

private:
  enum class What : std::uint16_t {
    arrival, // `packet`: of a copy at a port
    next,    // the first of a queue has gone: `packet`: the port
    credit,  // `packet`: the output
    link,    // is free again: `packet`: the output
  };
  static constexpr std::uint32_t kNone = ~std::uint32_t{0};

  // A packet at an input port, or on its way there.
  struct Copy {
    Hop hop;
    Cycle since = 0; // its head is there
    std::uint32_t port = 0;
    std::uint32_t branches = 0; // that have not gone
    Cycle gone = 0;             // when its last flit leaves
    bool lacked_room = false;
    std::uint32_t next = kNone; // in its queue, or free
  };
  struct Queue {
    std::uint32_t first = kNone;
    std::uint32_t last = kNone;
  };
  struct Wanted {
    std::uint32_t copy;
    std::uint64_t targets;
  };
  struct Output {
    Cycle free = 0; // when it can take the next flit
    bool planned = false;
    std::array<std::uint32_t, kVirtualNetworks> room{}; // flits, behind the link
    std::vector<Wanted> waiting;
  };
  struct Router {
    std::array<Output, kPorts> outputs;
    std::array<std::array<Queue, kVirtualNetworks>, kPorts> queues;
  };

  std::uint32_t take(const Copy &copy) {
    std::uint32_t at = free_;
    if (at != kNone) {
      free_ = copies_[at].next;
      copies_[at] = copy;
    } else {
      at = static_cast<std::uint32_t>(copies_.size());
      copies_.push_back(copy);
    }
    return at;
  }
  static Hop event(What what, std::uint32_t router, std::uint32_t packet, std::uint32_t network = 0,
                   std::uint32_t flits = 0) {
    Hop made;
    made.packet = packet;
    made.router = static_cast<std::uint16_t>(router & 63U);
    made.flits = static_cast<std::uint16_t>(flits & 63U);
    made.network = static_cast<std::uint16_t>(network & 15U);
    made.age = static_cast<std::uint16_t>(what);
    return made;
  }

  template <typename Host>
  void at_port(Host &host, Cycle now, std::uint32_t at, MeshStatistics &counts) {
    const Hop &hop = copies_[at].hop;
    counts.buffer_flits += hop.flits;
    Queue &queue = routers_[hop.router].queues[copies_[at].port][hop.network];
    const bool first = queue.first == kNone;
    (first ? queue.first : copies_[queue.last].next) = at;
    queue.last = at;
    if (first)
      ask(host, now, at, counts);
  }

  // The first of a queue asks for every output that it needs.
  template <typename Host>
  void ask(Host &host, Cycle now, std::uint32_t at, MeshStatistics &counts) {
    const Hop hop = copies_[at].hop;
    const MeshRoutes &routes = routes_[hop.router];
    std::uint32_t ports = 0;
    for (std::uint32_t port = 0; port < kPorts; ++port) {
      const std::uint64_t branch =
          hop.targets &
          (port == kLocalPort ? std::uint64_t{1} << hop.router : routes.reached[port]);
      if (branch == 0)
        continue;
      ++copies_[at].branches;
      ports |= 1U << port;
      routers_[hop.router].outputs[port].waiting.push_back({at, branch});
    }
    for (std::uint32_t port = 0; port < kPorts; ++port)
      if ((ports >> port & 1) != 0)
        serve(host, now, hop.router, port, counts);
  }

  // Lets those go that can.
  template <typename Host>
  void serve(Host &host, Cycle now, std::uint32_t router, std::uint32_t port,
             MeshStatistics &counts) {
    Output &output = routers_[router].outputs[port];
    std::uint32_t without_room = 0; // networks
    for (std::size_t i = 0; i < output.waiting.size();) {
      if (output.free > now + shape_.router_cycles) {
        if (!output.planned)
          host.hop(output.free - shape_.router_cycles, event(What::link, router, port));
        output.planned = true;
        return;
      }
      const Wanted wanted = output.waiting[i];
      Copy &copy = copies_[wanted.copy];
      const std::uint32_t bit = 1U << copy.hop.network;
      if ((without_room & bit) == 0 && port != kLocalPort &&
          output.room[copy.hop.network] < copy.hop.flits) {
        copy.lacked_room = true;
        without_room |= bit;
      }
      if ((without_room & bit) != 0) {
        ++i;
        continue;
      }
      output.waiting.erase(output.waiting.begin() + static_cast<std::ptrdiff_t>(i));
      go(host, now, wanted, port, counts);
    }
  }

  template <typename Host>
  void go(Host &host, Cycle now, const Wanted &wanted, std::uint32_t port, MeshStatistics &counts) {
    Copy &copy = copies_[wanted.copy];
    const Hop hop = copy.hop;
    Output &output = routers_[hop.router].outputs[port];
    Cycle start = std::max(now + shape_.router_cycles, output.free);
    if (start > copy.since + shape_.router_cycles) {
      start = std::max(start, copy.since + shape_.loaded_router_cycles);
      ++counts.waits;
      counts.wait_cycles += start - copy.since - shape_.router_cycles;
      counts.buffer_overruns += copy.lacked_room ? 1 : 0;
    }
    output.free = start + hop.flits;
    counts.router_flits += hop.flits;
    copy.gone = std::max(copy.gone, output.free);
    if (--copy.branches == 0)
      host.hop(std::max(copy.gone - shape_.router_cycles, now + 1),
               event(What::next, hop.router, copy.port, hop.network));
    send(host, copy.since, start, hop, wanted.targets, port, counts);
  }

  // `copy` of the caller may have moved.
  template <typename Host>
  void send(Host &host, Cycle since, Cycle start, const Hop &hop, std::uint64_t targets,
            std::uint32_t port, MeshStatistics &counts) {
    MeshStatistics::Network &network = counts.networks[hop.network];
    if (port == kLocalPort) {
      const Cycle at = start + hop.flits;
      ++network.deliveries;
      network.latency += hop.age + (at - since);
      host.delivery(at, hop.packet, hop.router);
      return;
    }
    const Cycle at = start + shape_.link_cycles;
    network.link_flits += hop.flits;
    flits_[hop.router][port] += hop.flits;
    routers_[hop.router].outputs[port].room[hop.network] -= hop.flits;
    Hop next = hop;
    next.targets = targets;
    next.router = routes_[hop.router].neighbour[port];
    next.age = aged(hop.age, at - since);
    const std::uint32_t made = take({.hop = next, .port = port});
    host.hop(at, event(What::arrival, next.router, made));
  }

  // The first of a queue has gone but for its last flits.
  template <typename Host>
  void leave_port(Host &host, Cycle now, const Hop &what, MeshStatistics &counts) {
    const std::uint32_t port = what.packet;
    Queue &queue = routers_[what.router].queues[port][what.network];
    const std::uint32_t gone = queue.first;
    CHECK(gone != kNone && copies_[gone].branches == 0);
    if (port != kLocalPort) {
      // Ports are called by where packets go: it came by the same one of the router before.
      const std::uint32_t before = routes_[what.router].neighbour[port ^ 1];
      host.hop(std::max(copies_[gone].gone, now) + shape_.link_cycles,
               event(What::credit, before, port, what.network, copies_[gone].hop.flits));
    }
    queue.first = copies_[gone].next;
    if (queue.first == kNone)
      queue.last = kNone;
    copies_[gone].next = free_;
    free_ = gone;
    if (queue.first != kNone)
      ask(host, now, queue.first, counts);
  }

  MeshShape shape_;
  std::vector<MeshRoutes> routes_;
  std::vector<Router> routers_;
  std::vector<Copy> copies_;
  std::uint32_t free_ = kNone;
  std::array<std::array<std::uint64_t, kPorts>, kMaxTiles> flits_{};
};

} // namespace tandem::machine
