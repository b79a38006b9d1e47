// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "machine/simulation/tester.h"

namespace tandem::machine {

namespace {

constexpr unsigned kOften = 8; // a device's steps between two turns

const char *name_of(RequestKind kind) {
  switch (kind) {
  case RequestKind::load:
    return "load";
  case RequestKind::fetch:
    return "fetch";
  case RequestKind::store:
    return "store";
  case RequestKind::atomic:
    return "atomic";
  case RequestKind::load_reserved:
    return "load-reserved";
  case RequestKind::store_conditional:
    return "store-conditional";
  }
  return "?";
}

} // namespace

Configuration test_machine(const TestRequest &request, bool bus) {
  std::mt19937_64 random(request.seed * 2 + 1);
  const auto one_of = [&](auto... values) {
    const std::array<std::uint32_t, sizeof...(values)> all = {
        static_cast<std::uint32_t>(values)...};
    return all[random() % all.size()];
  };
  Configuration c;
  c.name = fmt::format("seed-{}", request.seed);
  c.cores = request.cores;
  const std::uint32_t l1_ways = one_of(1, 2, 4);
  c.l1i = {1, l1_ways, 1, Replacement::lru};
  c.l1d = {1, l1_ways, one_of(1, 2), Replacement::lru};
  c.l2 = {one_of(2, 4), one_of(1, 2, 4), one_of(1, 5), Replacement::lru};
  c.l2_inclusive = random() % 3 == 0 && c.l2.size_kib >= 2;
  c.l2.replacement = static_cast<Replacement>(one_of(0, 1, 2, 3));
  c.llc = {one_of(1, 2, 4), one_of(1, 2, 4), one_of(1, 6, 20), Replacement::lru};
  c.directory.ways = one_of(2, 4, 8);
  c.filter.sub_tables = one_of(1, c.directory.ways / 2, c.directory.ways - 1);
  c.filter.kind = static_cast<filter::Kind>(one_of(0, 1, 2, 3, 3));
  c.filter.remainder_bits = one_of(1, 2, 9);
  c.filter.counter_bits = one_of(1, 2, 3);
  // From a set or two to enough.
  const std::uint32_t blocks = c.private_blocks();
  const std::uint32_t sets = one_of(1, 1, 2, 4, 8);
  c.directory.provision_permille = (sets * c.directory.ways * 1000 + blocks - 1) / blocks;
  if (c.filter.kind == filter::Kind::d_left)
    c.filter.repartition_interval = one_of(0, 0, 1, 40);
  c.llc_slices = one_of(0, 0, 1, std::max(1U, request.cores / 2));
  c.directory.latency = one_of(0, 2, 9);
  c.memory.controllers = one_of(1, std::min(2U, request.cores));
  c.memory.latency = one_of(1, 30, 200);
  c.memory.bandwidth_mb_per_s = one_of(500, 8000, 64000);
  c.network.kind = bus ? NetworkKind::bus : NetworkKind::mesh;
  c.network.multicast = random() % 2 == 0;
  c.network.jitter = one_of(0, 3, 40, 200);
  c.bus = {one_of(1, 4), one_of(1, 9), one_of(4, 64), one_of(1, 20)};
  // Links that starve: 17 flits for a block, 60 cycles at a router that is taken.
  c.network.link_bytes = one_of(4, 16, 64);
  c.network.loaded_router_cycles = one_of(3, 3, 60);
  // Buffers for a packet of each network, for two, or without a limit.
  const std::uint32_t packets = request.credits ? one_of(1, 1, 2) : one_of(0, 0, 1);
  c.network.credits = packets != 0;
  if (packets != 0)
    c.network.buffer_flits = packets * kVirtualNetworks * c.data_flits();
  return c;
}

// Few blocks, chosen such that homes and sets collide; the last core is a device that walks
// through more of them.
std::vector<TestOperation> test_script(const TestRequest &request) {
  std::mt19937_64 random(request.seed * 2);
  const std::uint64_t hot = 1 + random() % 12;
  const std::uint64_t all = 40 + random() % 200;
  const std::uint64_t stride = random() % 2 == 0 ? 1 : request.cores;
  std::vector<TestOperation> script;
  script.reserve(request.operations);
  std::uint64_t walk = 0;
  while (script.size() < request.operations) {
    TestOperation operation;
    operation.core = static_cast<std::uint16_t>(random() % request.cores);
    const bool device = request.cores > 1 && operation.core + 1U == request.cores;
    operation.delay = random() % 4 == 0 ? static_cast<std::uint32_t>(random() % 300) : 1;
    if (device && random() % kOften != 0) {
      operation.block = walk++ % all * stride;
      operation.kind = walk / all % 2 == 0 ? RequestKind::load : RequestKind::store;
      operation.device = random() % 2 == 0;
      script.push_back(operation);
      continue;
    }
    operation.block = (random() % 3 == 0 ? random() % all : random() % hot) * stride;
    const std::uint64_t what = random() % 100;
    if (what < 6)
      operation.flush = true;
    else
      operation.kind = what < 36   ? RequestKind::load
                       : what < 44 ? RequestKind::fetch
                       : what < 70 ? RequestKind::store
                       : what < 80 ? RequestKind::atomic
                       : what < 90 ? RequestKind::load_reserved
                                   : RequestKind::store_conditional;
    operation.device = (what >= 26 && what < 30) || (what >= 66 && what < 70); // loads, stores
    script.push_back(operation);
  }
  return script;
}

std::string to_text(const TestOperation &operation) {
  return fmt::format("core {} after {} cycles: {}{} block {:#x}", operation.core, operation.delay,
                     operation.device ? "a device's " : "",
                     operation.flush ? "evict" : name_of(operation.kind), operation.block);
}

} // namespace tandem::machine
