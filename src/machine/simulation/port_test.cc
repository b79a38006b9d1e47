// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The port of the timed system under every protocol: bytes that move at the instant of performance,
// permissions that are told to be lost, horizons that hold, reservations that end in success,
// devices that hear of their end.
#include "machine/protocol/flask/flask.h"
#include "machine/protocol/mesi_snoop/mesi_snoop.h"
#include "machine/protocol/mosaic/mosaic.h"
#include "machine/protocol/sparse_directory/sparse_directory.h"
#include "machine/protocol/token_b/token_b.h"
#include "machine/timed/system.h"

#include <gmock/gmock.h>
#include <map>
#include <random>
#include <set>

namespace tandem::machine {
namespace {

// Cores that wait for each access, and do random things to a few counters. Every increment is an
// atomic or a pair of load-reserved and store-conditional.
class Counters {
public:
  struct Options {
    unsigned blocks = 3;
    std::uint64_t stride = 1;  // between them: that of a set makes L1s too small
    unsigned accesses = 3'000; // of each core
    unsigned pairs_only = 0;   // 1: nothing but pairs on block 0
    Cycle between = 0;         // a load-reserved and its store-conditional
    Cycle too_far = 0;         // added to horizons
    std::uint64_t seed = 1;
  };

  Counters(unsigned cores, const Options &options)
      : options_(options), random_(options.seed), cores_(cores), bounds_(cores, 0) {}

  template <class S> void start(S &system) {
    for (unsigned core = 0; core < cores_.size(); ++core)
      system.wake_core(core, core % 3);
  }

  template <class S> void step(S &system, unsigned core) {
    Core &self = cores_[core];
    if (self.done == options_.accesses)
      return;
    ++self.done;
    if (self.next == RequestKind::store_conditional) {
      self.next = RequestKind::load;
    } else {
      constexpr RequestKind kKinds[] = {RequestKind::load,   RequestKind::load,
                                        RequestKind::fetch,  RequestKind::store,
                                        RequestKind::atomic, RequestKind::load_reserved};
      self.kind = options_.pairs_only != 0 ? RequestKind::load_reserved : kKinds[random_() % 6];
      self.block = options_.pairs_only != 0 ? 0 : random_() % options_.blocks * options_.stride;
    }
    if (self.kind == RequestKind::store) // plain stores go elsewhere, so that counters stay counts
      self.block += options_.blocks * options_.stride;
    for (unsigned other = 0; other < cores_.size(); ++other)
      bounds_[other] = std::min(
          bounds_[other],
          other == core ? Cycle{0} : system.now() + system.issue_cycles() + options_.too_far);
    issuing_ = core;
    const Outcome outcome = system.access(core, {self.block, self.kind, self.done});
    issuing_ = ~0U;
    if (outcome.hit)
      finished(system, core, outcome.done, system.now() + outcome.done.latency);
  }

  template <class S> void complete(S &system, unsigned core, const Completion &done) {
    finished(system, core, done, system.now());
  }

  template <class S> bool perform(S &system, unsigned core, const Request &request) {
    Core &self = cores_[core];
    EXPECT_EQ(request.tag, self.done);
    const bool writes = access_of(request.kind) == Access::store;
    for (unsigned other = 0; other < cores_.size(); ++other)
      if (other != core) {
        const Quick held = system.quick(other, request.block, false);
        EXPECT_FALSE(writes ? held.readable : held.writable)
            << "two copies, cycle " << system.now();
      }
    std::uint64_t &word = memory_[request.block];
    if (request.kind == RequestKind::load_reserved)
      self.seen = word;
    if (request.kind == RequestKind::atomic)
      ++word;
    if (request.kind == RequestKind::store_conditional)
      word = self.seen + 1;
    ++performed_;
    return true;
  }

  template <class S> void lost(S &system, unsigned core, std::uint64_t block) {
    remembered_.erase({core, block});
    if (core != issuing_ && system.now() < bounds_[core])
      ++broken_horizons_;
  }

  // Between two events.
  template <class S> void look(S &system) {
    for (unsigned core = 0; core < cores_.size(); ++core) {
      const Cycle now = system.horizon(core);
      bounds_[core] = std::max(bounds_[core], now == kNever ? 0 : now + options_.too_far);
    }
    for (const auto &[place, was] : remembered_) {
      const Quick is = system.quick(place.first, place.second, false);
      EXPECT_TRUE((!was.readable || is.readable) && (!was.writable || is.writable))
          << "core " << place.first << " was not told, cycle " << system.now();
    }
    for (unsigned core = 0; core < cores_.size(); ++core)
      for (std::uint64_t block = 0; block < 2 * options_.blocks * options_.stride;
           block += options_.stride)
        if (const Quick found = system.quick(core, block, false); found.readable)
          remembered_[{core, block}] = found;
  }

  [[nodiscard]] std::uint64_t sum() const {
    std::uint64_t all = 0;
    for (const auto &[block, value] : memory_)
      all += value;
    return all;
  }
  [[nodiscard]] std::uint64_t increments() const { return increments_; }
  [[nodiscard]] std::uint64_t failures() const { return failures_; }
  [[nodiscard]] std::uint64_t performed() const { return performed_; }
  [[nodiscard]] std::uint64_t broken_horizons() const { return broken_horizons_; }
  [[nodiscard]] bool all_done() const {
    for (const Core &core : cores_)
      if (core.done != options_.accesses)
        return false;
    return true;
  }

private:
  struct Core {
    unsigned done = 0;
    RequestKind kind = RequestKind::load;
    RequestKind next = RequestKind::load;
    std::uint64_t block = 0;
    std::uint64_t seen = 0;
  };

  template <class S> void finished(S &system, unsigned core, const Completion &done, Cycle at) {
    Core &self = cores_[core];
    if (done.kind == RequestKind::atomic || done.kind == RequestKind::store_conditional)
      ++(done.succeeded ? increments_ : failures_);
    Cycle wait = 1;
    if (done.kind == RequestKind::load_reserved) {
      self.next = self.kind = RequestKind::store_conditional;
      wait += options_.between;
    }
    system.wake_core(core, at + wait);
  }

  Options options_;
  std::mt19937_64 random_;
  std::vector<Core> cores_;
  std::vector<Cycle> bounds_;
  std::map<std::pair<unsigned, std::uint64_t>, Quick> remembered_;
  std::map<std::uint64_t, std::uint64_t> memory_;
  std::uint64_t increments_ = 0;
  std::uint64_t failures_ = 0;
  std::uint64_t performed_ = 0;
  std::uint64_t broken_horizons_ = 0;
  unsigned issuing_ = ~0U;
};

template <class P> class Port : public testing::Test {
public:
  static Configuration machine(unsigned cores, unsigned jitter) {
    std::vector<std::string> settings = {fmt::format("cores={}", cores), "memory.controllers=1",
                                         fmt::format("network.jitter={}", jitter)};
    if (P::kBus)
      settings.emplace_back("network.kind=bus");
    return *load_configuration("small", settings);
  }
};

using Protocols = testing::Types<MesiSnoop, SparseDirectory, Mosaic, TokenB, Flask>;
class Names {
public:
  template <typename P> static std::string GetName(int) { return P::kName; }
};
TYPED_TEST_SUITE(Port, Protocols, Names);

TYPED_TEST(Port, MovesBytesWhenAnAccessIsPerformedAndTellsWhatIsLost) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    const Configuration machine = this->machine(4, seed % 3 * 7);
    const bool crowded = seed % 2 == 0;
    Counters client(4, {.blocks = crowded ? 2 * machine.l1d.ways : 3,
                        .stride = crowded ? machine.l1d.sets() : 1,
                        .between = seed * 3,
                        .seed = seed});
    System<TypeParam, Counters> system(machine, {}, {.seed = seed, .check_values = seed % 4 == 0},
                                       client);
    client.start(system);
    while (!system.idle()) {
      client.look(system);
      system.run(1);
    }
    EXPECT_TRUE(client.all_done());
    EXPECT_GT(client.increments(), 1'000U);
    EXPECT_EQ(client.sum(), client.increments());
    EXPECT_EQ(client.broken_horizons(), 0U);
    EXPECT_EQ(system.pending(), 0U);
  }
}

// Nothing reaches a core before its horizon; and a horizon that is two cycles too long is found.
TYPED_TEST(Port, AHorizonTwoCyclesTooLongIsFound) {
  std::uint64_t found = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Counters client(4, {.too_far = 2, .seed = seed});
    System<TypeParam, Counters> system(this->machine(4, 0), {}, {.seed = seed}, client);
    client.start(system);
    while (!system.idle()) {
      client.look(system);
      system.run(1);
    }
    found += client.broken_horizons();
  }
  EXPECT_GT(found, 0U);
}

// Cores that increment one counter by load-reserved and store-conditional do not undo each other
// for ever: each fetch of the block buys at least one success.
TYPED_TEST(Port, ReservationsOfTwoCoresEndInSuccess) {
  for (const unsigned cores : {2U, 4U}) {
    Counters client(cores, {.accesses = 2'000, .pairs_only = 1, .between = 30});
    System<TypeParam, Counters> system(this->machine(cores, 0), {}, {.seed = 1}, client);
    client.start(system);
    while (!system.idle())
      system.run(1'000);
    EXPECT_TRUE(client.all_done());
    EXPECT_EQ(client.sum(), client.increments());
    EXPECT_GT(client.increments(), client.failures()) << cores;
  }
}

// A store-conditional without a reservation sends no request.
TYPED_TEST(Port, AFailingStoreConditionalSendsNothing) {
  Counters client(2, {});
  System<TypeParam, Counters> system(this->machine(2, 0), {}, {.seed = 1}, client);
  const Outcome outcome = system.access(0, {7, RequestKind::store_conditional, 1});
  EXPECT_TRUE(outcome.hit);
  EXPECT_FALSE(outcome.done.succeeded);
  EXPECT_TRUE(system.idle());
  EXPECT_EQ(client.performed(), 0U);
  EXPECT_EQ(system.statistics().conditional_failures, 1U);
}

struct Devices {
  template <class S> void step(S &, unsigned) {}
  template <class S> void complete(S &, unsigned, const Completion &) {}
  template <class S> void device_done(S &system, const DeviceAccess &access) {
    done.push_back({access.tag, system.now()});
  }
  std::vector<std::pair<std::uint32_t, Cycle>> done;
};

TYPED_TEST(Port, DevicesHearOfTheirEnd) {
  Devices client;
  System<TypeParam, Devices> system(this->machine(2, 0), {}, {.seed = 1, .check_values = true},
                                    client);
  system.access(0, {5, RequestKind::store, 1}); // an owner that must give the block up
  while (!system.idle())
    system.run(100);
  for (std::uint32_t tag = 10; tag < 16; ++tag)
    system.device(tag % 2 == 0 ? 5 : 9, tag < 13 ? Access::load : Access::store, tag);
  EXPECT_TRUE(client.done.empty() || client.done.front().first != 0);
  while (!system.idle())
    system.run(100);
  ASSERT_EQ(client.done.size(), 6U);
  std::set<std::uint32_t> tags;
  for (const auto &[tag, at] : client.done)
    tags.insert(tag);
  EXPECT_EQ(tags, (std::set<std::uint32_t>{10, 11, 12, 13, 14, 15}));
  EXPECT_EQ(system.pending(), 0U);
}

struct Waiter {
  template <class S> void step(S &, unsigned) {}
  template <class S> void complete(S &, unsigned, const Completion &done) {
    latency = done.latency;
  }
  Cycle latency = 0;
};

// MetaTM's machine: an L1 miss costs 16 cycles, an L2 miss these, the bus and 200.
TEST(Bus, AMissPaysTheLookupOfTheL2) {
  Waiter client;
  const Configuration machine = *load_configuration("metatm", {});
  System<MesiSnoop, Waiter> system(machine, {}, {.seed = 1}, client);
  ASSERT_FALSE(system.access(0, {5, RequestKind::load, 1}).hit);
  while (!system.idle())
    system.run(100);
  const Cycle bus = machine.bus.snoop_cycles + kBlockBytes / machine.bus.data_bytes;
  EXPECT_EQ(client.latency, machine.l1d.latency + machine.l2.latency + bus +
                                machine.memory.latency + machine.l1d.latency);
}

// A store that changes nothing but the bytes is as quick as a load: its table is not asked.
TYPED_TEST(Port, StoresToOwnedBlocksAskNoTable) {
  Waiter client;
  System<TypeParam, Waiter> system(this->machine(2, 0), {}, {.seed = 1}, client);
  system.access(0, {5, RequestKind::store, 1});
  while (!system.idle())
    system.run(100);
  const std::uint64_t steps = system.statistics().steps;
  EXPECT_TRUE(system.quick(0, 5, false).writable);
  EXPECT_TRUE(system.access(0, {5, RequestKind::store, 2}).hit);
  EXPECT_TRUE(system.access(0, {5, RequestKind::atomic, 3}).hit);
  EXPECT_EQ(system.statistics().steps, steps);
  // A clean, exclusive copy is not: the table has to learn that it is dirty now.
  system.access(1, {77, RequestKind::load, 4});
  while (!system.idle())
    system.run(100);
  EXPECT_TRUE(system.quick(1, 77, false).readable);
  EXPECT_FALSE(system.quick(1, 77, false).writable);
}

} // namespace
} // namespace tandem::machine
