// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The mesh against arithmetic: routes and latencies without load, queueing theory under load, the
// bound of the bisection at saturation.
#include "machine/network/mesh.h"

#include <gtest/gtest.h>
#include <map>
#include <random>

namespace tandem::machine {
namespace {

// Runs a mesh by itself and keeps what was delivered.
struct Harness {
  explicit Harness(const MeshShape &shape) : mesh(shape) {}

  void hop(Cycle at, const Hop &next) { wheel.schedule(at, next); }
  void delivery(Cycle at, std::uint32_t packet, std::uint32_t tile) {
    if (!records)
      return;
    ASSERT_TRUE(delivered.emplace(std::pair(packet, tile), at).second) << "delivered twice";
  }
  void run_until(Cycle end) {
    while (wheel.next_time() <= end) {
      const Hop next = wheel.pop();
      mesh.arrive(*this, wheel.now(), next);
    }
    if (end != kNever - 1)
      wheel.skip_to(end);
  }
  void drain() { run_until(kNever - 1); }

  Mesh mesh;
  bool records = true; // false: the mesh's statistics are enough
  EventWheel<Hop> wheel;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Cycle> delivered;
};

TEST(Mesh, ShapesForAllNumbersOfTiles) {
  for (std::uint32_t tiles = 1; tiles <= kMaxTiles; ++tiles) {
    const MeshShape shape = mesh_for(tiles);
    EXPECT_GE(shape.columns * shape.rows, tiles);
    EXPECT_LE(shape.columns * shape.rows, kMaxTiles);
    EXPECT_LE(shape.columns - shape.rows, 1u);
  }
  EXPECT_EQ(mesh_for(16).columns, 4u);
  EXPECT_EQ(mesh_for(8).rows, 3u);
}

TEST(Mesh, TakesZeroLoadLatencyBetweenAllTiles) {
  for (std::uint32_t flits : {1u, 5u})
    for (std::uint32_t from = 0; from < 12; ++from)
      for (std::uint32_t to = 0; to < 12; ++to) {
        MeshShape shape;
        shape.columns = 4;
        shape.rows = 3;
        shape.link_cycles = 2;
        Harness harness(shape);
        harness.mesh.inject(harness, 0, from, 1, std::uint64_t{1} << to, flits, 0);
        harness.drain();
        const Cycle hops = harness.mesh.distance(from, to);
        EXPECT_EQ(harness.delivered.at({1, to}), hops * 3 + 1 + flits);
        EXPECT_EQ(harness.mesh.statistics().total().link_flits, hops * flits);
      }
}

TEST(Mesh, MulticastReachesEveryTargetOnceOverATree) {
  std::mt19937_64 random(7);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t targets = (random() & 0xffff) | 1;
    const std::uint32_t source = random() % 16;
    MeshShape shape;
    Harness tree(shape);
    tree.mesh.inject(tree, 0, source, 1, targets, 1, 1);
    tree.drain();
    shape.multicast = false;
    Harness copies(shape);
    copies.mesh.inject(copies, 0, source, 1, targets, 1, 1);
    copies.drain();
    std::uint64_t hops = 0;
    for (std::uint32_t tile = 0; tile < 16; ++tile) {
      const bool wanted = ((targets >> tile) & 1) != 0;
      ASSERT_EQ(tree.delivered.count({1, tile}), wanted ? 1u : 0u);
      ASSERT_EQ(copies.delivered.count({1, tile}), wanted ? 1u : 0u);
      if (wanted) {
        hops += tree.mesh.distance(source, tile);
        // No other traffic: every branch goes at its own pace.
        ASSERT_EQ(tree.delivered.at({1, tile}), tree.mesh.zero_load_latency(source, tile, 1));
      }
    }
    EXPECT_EQ(copies.mesh.statistics().total().link_flits, hops);
    EXPECT_LE(tree.mesh.statistics().total().link_flits, 15u); // a spanning tree has no more links
  }
}

TEST(Mesh, BroadcastUsesEveryTreeLinkOnce) {
  Harness harness(mesh_for(16));
  harness.mesh.inject(harness, 0, 5, 1, 0xffff, 1, 1);
  harness.drain();
  EXPECT_EQ(harness.mesh.statistics().total().link_flits, 15u);
  EXPECT_EQ(harness.mesh.statistics().total().deliveries, 16u);
}

TEST(Mesh, KeepsTheOrderBetweenTwoTiles) {
  std::mt19937_64 random(3);
  Harness harness(mesh_for(16));
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::vector<std::uint32_t>> sent;
  std::uint32_t packet = 0;
  for (Cycle cycle = 0; cycle < 3000; ++cycle) {
    harness.run_until(cycle);
    for (std::uint32_t source = 0; source < 16; ++source)
      if (random() % 4 == 0) {
        const std::uint32_t to = random() % 16;
        sent[{source, to}].push_back(packet);
        harness.mesh.inject(harness, cycle, source, packet++, std::uint64_t{1} << to,
                            random() % 2 == 0 ? 1 : 5, 0);
      }
  }
  harness.drain();
  ASSERT_EQ(harness.delivered.size(), packet);
  for (const auto &[pair, packets] : sent)
    for (std::size_t i = 1; i < packets.size(); ++i)
      ASSERT_LT(harness.delivered.at({packets[i - 1], pair.second}),
                harness.delivered.at({packets[i], pair.second}));
}

// One sender, Bernoulli arrivals of packets of S flits: the injection port is a Geo/D/1 queue, with
// mean wait rho * (S - 1) / (2 * (1 - rho)); behind it nothing queues.
TEST(Mesh, OneSenderWaitsAsTheQueueingTheorySays) {
  constexpr std::uint32_t kFlits = 5;
  for (const double load : {0.1, 0.3, 0.5, 0.7, 0.9}) {
    MeshShape shape = mesh_for(16);
    shape.loaded_router_cycles = shape.router_cycles;
    Harness harness(shape);
    harness.records = false;
    std::mt19937_64 random(11);
    std::bernoulli_distribution arrives(load / kFlits);
    std::uint64_t packets = 0;
    for (Cycle cycle = 0; cycle < 2'000'000; ++cycle) {
      if (!arrives(random))
        continue;
      harness.run_until(cycle);
      harness.mesh.inject(harness, cycle, 0, 0, std::uint64_t{1} << 3, kFlits, 0);
      ++packets;
    }
    harness.drain();
    const MeshStatistics::Network total = harness.mesh.statistics().total();
    ASSERT_EQ(total.deliveries, packets);
    const double wait = static_cast<double>(total.latency) / static_cast<double>(packets) -
                        static_cast<double>(harness.mesh.zero_load_latency(0, 3, kFlits));
    const double theory = load * (kFlits - 1) / (2 * (1 - load));
    EXPECT_NEAR(wait, theory, 0.05 * theory + 0.02) << "load " << load;
  }
}

struct Measured {
  double accepted; // flits a cycle and tile
  double latency;  // cycles
};

// Uniform random traffic of one-flit packets.
Measured uniform(std::uint32_t side, double load) {
  MeshShape shape = mesh_for(side * side);
  shape.loaded_router_cycles = shape.router_cycles;
  Harness harness(shape);
  std::mt19937_64 random(13);
  const std::uint64_t threshold = static_cast<std::uint64_t>(load * 0x1p63) * 2;
  constexpr Cycle kWarmUp = 3'000;
  constexpr Cycle kEnd = 15'000;
  std::uint32_t packet = 0;
  for (Cycle cycle = 0; cycle < kEnd; ++cycle) {
    harness.run_until(cycle);
    if (cycle == kWarmUp) {
      harness.mesh.reset_statistics();
      harness.delivered.clear();
    }
    for (std::uint32_t source = 0; source < side * side; ++source)
      if (random() < threshold)
        harness.mesh.inject(harness, cycle, source, packet++,
                            std::uint64_t{1} << (random() % (side * side)), 1, 0);
  }
  std::uint64_t in_time = 0;
  for (const auto &[name, at] : harness.delivered)
    in_time += at >= kWarmUp && at < kEnd ? 1 : 0;
  const MeshStatistics::Network total = harness.mesh.statistics().total();
  return {static_cast<double>(in_time) / static_cast<double>((kEnd - kWarmUp) * side * side),
          static_cast<double>(total.latency) / static_cast<double>(total.deliveries)};
}

// Mean hops of uniform traffic with itself as a target: 2 * (k^2 - 1) / (3 * k).
double zero_load(std::uint32_t side) {
  const double k = side;
  return 2 * (k * k - 1) / (3 * k) * 2 + 2;
}

TEST(Mesh, UniformTrafficAtLowLoadTakesTheZeroLoadLatency) {
  for (std::uint32_t side : {4u, 8u}) {
    const Measured low = uniform(side, 0.01);
    EXPECT_NEAR(low.latency, zero_load(side), 0.02 * zero_load(side));
    EXPECT_NEAR(low.accepted, 0.01, 0.001);
  }
}

// The busiest links of a k x k mesh carry k/4 of the load of one tile, so 8 x 8 saturates at one
// half: below, everything is accepted; above, less than is offered, and never much over the bound.
TEST(Mesh, SaturatesAtTheBoundOfTheBisection) {
  const Measured below = uniform(8, 0.44);
  EXPECT_NEAR(below.accepted, 0.44, 0.01);
  EXPECT_GT(below.latency, zero_load(8));
  EXPECT_LT(below.latency, 4 * zero_load(8));
  const Measured above = uniform(8, 0.70);
  EXPECT_LT(above.accepted, 0.65);
  EXPECT_GT(above.latency, 10 * zero_load(8));
}

// ------------------------------------------------------------------------------- with credits

MeshShape with_credits(std::uint32_t tiles, std::uint32_t flits) {
  MeshShape shape = mesh_for(tiles);
  shape.credits = true;
  shape.buffer_flits = flits * kVirtualNetworks;
  return shape;
}

TEST(BufferedMesh, TakesZeroLoadLatencyBetweenAllTiles) {
  for (std::uint32_t flits : {1u, 5u})
    for (std::uint32_t from = 0; from < 16; ++from)
      for (std::uint32_t to = 0; to < 16; ++to) {
        Harness harness(with_credits(16, 5));
        harness.mesh.inject(harness, 0, from, 1, std::uint64_t{1} << to, flits, 0);
        harness.drain();
        EXPECT_EQ(harness.delivered.at({1, to}), harness.mesh.zero_load_latency(from, to, flits));
      }
}

// Whatever comes, by whatever network, with room for one packet: everything arrives, once, and
// packets of one network between two tiles in their order.
TEST(BufferedMesh, DeliversEverythingThroughTheSmallestBuffers) {
  for (const std::uint32_t tiles : {2u, 4u, 6u, 16u, 64u})
    for (std::uint64_t seed = 1; seed <= 4; ++seed) {
      std::mt19937_64 random(seed);
      Harness harness(with_credits(tiles, 5));
      const std::uint64_t all = tiles == 64 ? ~std::uint64_t{0} : (std::uint64_t{1} << tiles) - 1;
      std::map<std::array<std::uint32_t, 3>, std::vector<std::uint32_t>> sent;
      std::uint32_t packet = 0;
      std::uint64_t wanted = 0;
      for (Cycle cycle = 0; cycle < 400; ++cycle) {
        harness.run_until(cycle);
        for (std::uint32_t source = 0; source < tiles; ++source) {
          std::uint64_t targets = std::uint64_t{1} << random() % tiles;
          if (random() % 6 == 0)
            targets |= random() & all;
          const std::uint32_t network = random() % kVirtualNetworks;
          for (std::uint64_t rest = targets; rest != 0; rest &= rest - 1)
            sent[{source, static_cast<std::uint32_t>(std::countr_zero(rest)), network}].push_back(
                packet);
          wanted += static_cast<std::uint64_t>(std::popcount(targets));
          harness.mesh.inject(harness, cycle, source, packet++, targets, random() % 2 ? 1 : 5,
                              network);
        }
      }
      harness.drain();
      ASSERT_EQ(harness.delivered.size(), wanted) << tiles << " tiles, seed " << seed;
      EXPECT_GT(harness.mesh.statistics().buffer_overruns, 0u);
      for (const auto &[way, packets] : sent)
        for (std::size_t i = 1; i < packets.size(); ++i)
          ASSERT_LT(harness.delivered.at({packets[i - 1], way[1]}),
                    harness.delivered.at({packets[i], way[1]}));
    }
}

// All to the end of a row: with room for one packet the queue stands back to the sources, the last
// link waits for credits only, and what goes the other way is not held up by it for ever.
TEST(BufferedMesh, ALastLinkIsTheBound) {
  MeshShape shape = with_credits(4, 5);
  shape.columns = 4;
  shape.rows = 1;
  Harness harness(shape);
  for (std::uint32_t packet = 0; packet < 20; ++packet)
    for (const std::uint32_t source : {0u, 1u, 2u})
      harness.mesh.inject(harness, 0, source, source * 100 + packet, 1u << 3, 5, 0);
  harness.run_until(60);
  harness.mesh.inject(harness, 60, 1, 999, 1u << 0, 1, 1); // of another network
  harness.drain();
  ASSERT_EQ(harness.delivered.size(), 61u);
  Cycle last = 0;
  for (const auto &[name, at] : harness.delivered)
    last = std::max(last, at);
  EXPECT_GE(last, 300u); // 60 packets of 5 flits
  // A packet's room is free again a router, two links and a cycle after its flits have gone.
  EXPECT_LE(last, 60u * (5 + 4) + 20);
  EXPECT_LE(harness.delivered.at({999, 0}), 60u + 60u); // behind its source's own packets only
}

// Uniform traffic saturates at less with small buffers than without a limit; large buffers are
// nearly none.
TEST(BufferedMesh, SmallBuffersSaturateEarlier) {
  const auto accepted = [](MeshShape shape) {
    shape.loaded_router_cycles = shape.router_cycles;
    Harness harness(shape);
    std::mt19937_64 random(13);
    std::uint32_t packet = 0;
    constexpr Cycle kEnd = 6'000;
    for (Cycle cycle = 0; cycle < kEnd; ++cycle) {
      harness.run_until(cycle);
      for (std::uint32_t source = 0; source < 64; ++source)
        if (random() % 10 == 0)
          harness.mesh.inject(harness, cycle, source, packet++, std::uint64_t{1} << random() % 64,
                              5, 0);
    }
    return static_cast<double>(harness.delivered.size()) / static_cast<double>(kEnd) / 64 * 5;
  };
  const double unlimited = accepted(mesh_for(64));
  const double large = accepted(with_credits(64, 60));
  const double small = accepted(with_credits(64, 5));
  EXPECT_GT(large, 0.75 * unlimited);
  EXPECT_LT(small, 0.9 * large);
}

} // namespace
} // namespace tandem::machine
