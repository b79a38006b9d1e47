// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The timed system under every protocol: determinism, values, no allocation, known latencies.
#include "machine/simulation/metrics.h"
#include "machine/simulation/tester.h"

#include <atomic>
#include <cstdlib>
#include <gmock/gmock.h>
#include <new>

namespace {
std::atomic<std::uint64_t> allocations{0};
} // namespace

void *operator new(std::size_t size) {
  allocations.fetch_add(1, std::memory_order_relaxed);
  if (void *memory = std::malloc(size == 0 ? 1 : size))
    return memory;
  throw std::bad_alloc();
}
void operator delete(void *memory) noexcept { std::free(memory); }
void operator delete(void *memory, std::size_t) noexcept { std::free(memory); }

namespace tandem::machine {
namespace {

class EveryProtocol : public testing::TestWithParam<std::string> {
protected:
  const ProtocolEntry &protocol() { return **find_protocol(GetParam()); }

  RunRequest request(const std::string &configuration, const std::string &workload,
                     std::vector<std::string> settings = {}) {
    if (protocol().bus)
      settings.emplace_back("network.kind=bus");
    RunRequest made;
    made.configuration = *load_configuration(configuration, settings);
    made.profile = *find_profile(workload);
    made.work = {20'000, 60'000};
    return made;
  }
};

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ProtocolEntry &entry : protocols())
    all.push_back(entry.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Machine, EveryProtocol, testing::ValuesIn(names()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(EveryProtocol, PassesTheRandomTester) {
  for (std::uint64_t seed = 1; seed <= 25; ++seed) {
    const Result<TestResult> result = protocol().test({.seed = seed, .operations = 8'000});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->failure, "") << "seed " << seed;
    ASSERT_GT(result->accesses, 7'000u);
  }
}

// With buffers of a packet or two for each virtual network, on all sizes of meshes: nothing waits
// for ever.
TEST_P(EveryProtocol, PassesTheRandomTesterWithSmallBuffers) {
  if (protocol().bus)
    return; // it has none
  for (const unsigned cores : {2U, 3U, 4U, 9U, 16U, 64U})
    for (std::uint64_t seed = 1; seed <= 5; ++seed) {
      const Result<TestResult> result =
          protocol().test({.cores = cores, .seed = seed, .operations = 5'000, .credits = true});
      ASSERT_TRUE(result.ok());
      ASSERT_EQ(result->failure, "") << cores << " cores, seed " << seed;
    }
}

TEST_P(EveryProtocol, PassesTheRandomTesterWith64Cores) {
  for (std::uint64_t seed = 1; seed <= 3; ++seed) {
    const Result<TestResult> result =
        protocol().test({.cores = 64, .seed = seed, .operations = 30'000});
    ASSERT_TRUE(result.ok());
    ASSERT_EQ(result->failure, "") << "seed " << seed;
  }
}

TEST_P(EveryProtocol, PassesTheRandomTesterWithEachOption) {
  for (const ProtocolOption &option : protocol().options)
    for (std::uint64_t seed = 1; seed <= 12; ++seed) {
      const Result<TestResult> result = protocol().test(
          {.seed = seed, .operations = 6'000, .options = {{option.name, option.preset ? 0U : 1U}}});
      ASSERT_TRUE(result.ok());
      ASSERT_EQ(result->failure, "") << option.name << ", seed " << seed;
    }
}

TEST_P(EveryProtocol, IsDeterministicForASeedAndDiffersBetweenSeeds) {
  RunRequest one = request("flask", "oltp-like");
  const Result<RunResult> first = protocol().run(one);
  const Result<RunResult> again = protocol().run(one);
  one.seed = 2;
  const Result<RunResult> other = protocol().run(one);
  ASSERT_TRUE(first.ok() && again.ok() && other.ok());
  EXPECT_EQ(first->cycles, again->cycles);
  EXPECT_EQ(first->statistics.events, again->statistics.events);
  EXPECT_EQ(first->network.total().link_flits, again->network.total().link_flits);
  EXPECT_NE(first->statistics.events, other->statistics.events);
}

// The values are right under every kind of traffic, and to look at them changes no time.
TEST_P(EveryProtocol, ValuesAreRightAndLookingIsFree) {
  for (const Profile &profile : profiles()) {
    RunRequest plain = request("small", std::string(profile.name));
    plain.work = {5'000, 20'000};
    RunRequest checked = plain;
    checked.check_values = true;
    const Result<RunResult> fast = protocol().run(plain);
    const Result<RunResult> slow = protocol().run(checked);
    ASSERT_TRUE(fast.ok() && slow.ok()) << profile.name;
    EXPECT_EQ(fast->cycles, slow->cycles) << profile.name;
    EXPECT_EQ(fast->statistics.core.l1_hits, slow->statistics.core.l1_hits) << profile.name;
    EXPECT_TRUE(fast->complete);
    EXPECT_EQ(fast->accesses, 20'000u);
  }
}

TEST_P(EveryProtocol, AllocatesNothingInTheSteadyState) {
  RunRequest made = request("small", "locks");
  made.work = {400'000, 400'000};
  std::uint64_t before = 0;
  std::uint64_t after = 0;
  made.go_on = [&](std::uint64_t done, std::uint64_t) {
    if (done >= 400'000)
      (before == 0 ? before : after) = allocations.load();
    return true;
  };
  ASSERT_TRUE(protocol().run(made).ok());
  ASSERT_NE(after, 0u) << "too few looks at the run";
  EXPECT_EQ(after, before);
}

TEST_P(EveryProtocol, EndsWhenItIsAskedToWithAValidPart) {
  RunRequest made = request("flask", "oltp-like");
  made.work = {1'000, 100'000'000};
  made.go_on = [](std::uint64_t done, std::uint64_t) { return done < 20'000; };
  const Result<RunResult> result = protocol().run(made);
  ASSERT_TRUE(result.ok());
  EXPECT_FALSE(result->complete);
  EXPECT_GE(result->accesses, 19'000u);
  EXPECT_GT(result->cycles, 0u);
  EXPECT_GT(result->energy.edp, 0);
}

// All loads and stores are somewhere: hits, or completed misses, or still under way.
TEST_P(EveryProtocol, CountsAddUp) {
  const RunRequest made = request("flask", "apache-like");
  const Result<RunResult> result = protocol().run(made);
  ASSERT_TRUE(result.ok());
  const CoreStatistics &core = result->statistics.core;
  EXPECT_EQ(core.accesses(), core.l1_hits + core.l2_hits + core.misses + core.merged);
  EXPECT_EQ(core.loads + core.stores, result->accesses);
  const std::uint64_t most =
      std::uint64_t{made.configuration.cores} * made.configuration.core.outstanding;
  EXPECT_LE(core.misses + core.merged, core.miss_latency.count + most);
  EXPECT_LE(core.miss_latency.count, core.misses + core.merged + most);
  // Those that memory serves wait for it.
  EXPECT_GT(core.memory_misses, result->statistics.memory.reads / 2);
  EXPECT_LT(core.memory_misses, core.miss_latency.count);
  EXPECT_GE(core.memory_cycles, core.memory_misses * made.configuration.memory.latency);
}

TEST_P(EveryProtocol, RunsOnEveryNumberOfCores) {
  for (const unsigned cores : {1U, 2U, 3U, 7U, 8U, 31U, 64U}) {
    RunRequest made =
        request("flask", "ft-like",
                {fmt::format("cores={}", cores), "network.columns=0", "memory.controllers=1"});
    made.work = {1'000, 10'000};
    const Result<RunResult> result = protocol().run(made);
    ASSERT_TRUE(result.ok()) << cores;
    EXPECT_TRUE(result->complete) << cores;
  }
}

// Every access is checked, and every lookup of the filter against an exact set: a false negative
// would end the run.
TEST(Repartitioning, FollowsTheTrafficBothWays) {
  const auto run = [](const std::string &workload, const char *provision, const char *sub_tables) {
    RunRequest request;
    request.configuration =
        *load_configuration("flask", {std::string("directory.provision_percent=") + provision,
                                      std::string("filter.sub_tables=") + sub_tables,
                                      "l2.size_kib=64", "filter.repartition_interval=200"});
    request.profile = *find_profile(workload);
    request.work = {100'000, 200'000};
    request.check_values = true;
    return *(*find_protocol("flask"))->run(request);
  };
  const RunResult shared = run("migratory", "1", "7");
  EXPECT_GT(shared.statistics.home.ways_to_directory, 0U);
  EXPECT_LT(shared.filter_sub_tables, 6);
  const RunResult own = run("private", "40", "1");
  EXPECT_GT(own.statistics.home.ways_to_filter, 0U);
  EXPECT_GT(own.filter_sub_tables, 3);
}

TEST_P(EveryProtocol, RunsOnAnyNumberOfSlices) {
  if (protocol().bus)
    return; // has none
  for (const char *slices : {"1", "3", "8", "32"}) {
    RunRequest made = request("flask", "oltp-like", {std::string("llc.slices=") + slices});
    made.check_values = true;
    const RunResult result = *protocol().run(made);
    EXPECT_EQ(result.accesses, made.work.accesses) << slices;
  }
}

TEST_P(EveryProtocol, FastForwardLeavesWhatTimeWouldHaveLeft) {
  RunRequest timed = request("flask", "mixed");
  timed.work = {400'000, 50'000};
  RunRequest fast = timed;
  fast.work = {50'000, 50'000, 350'000};
  fast.check_values = true;
  const RunResult slow_result = *protocol().run(timed);
  const RunResult fast_result = *protocol().run(fast);
  EXPECT_EQ(fast_result.accesses, 50'000U);
  const auto misses = [](const RunResult &r) {
    return static_cast<double>(r.statistics.core.misses + r.statistics.core.merged);
  };
  // The order of accesses of different cores differs, so only nearly the same is left.
  EXPECT_NEAR(misses(fast_result) / misses(slow_result), 1, 0.1);
}

TEST(Estimate, IsStudentsInterval) {
  EXPECT_EQ(estimate({5}).half_width, std::nullopt);
  const Estimate three = estimate({1, 2, 3});
  EXPECT_DOUBLE_EQ(three.mean, 2);
  EXPECT_NEAR(*three.half_width, 4.303 / std::sqrt(3.0), 1e-9);
  EXPECT_NEAR(*estimate({4, 4, 4, 4}).half_width, 0, 1e-12);
}

TEST(Fit, RefusesWhatDoesNotGoTogether) {
  const auto refused = [](const char *protocol, const char *machine,
                          std::vector<std::string> settings) {
    const Status fit = check_fit(*load_configuration(machine, settings), **find_protocol(protocol));
    return fit ? std::string() : fit.error().message;
  };
  using testing::HasSubstr;
  EXPECT_THAT(refused("mesi-snoop", "flask", {}), HasSubstr("needs a bus"));
  EXPECT_THAT(refused("flask", "metatm", {}), HasSubstr("needs a mesh"));
  EXPECT_THAT(refused("flask", "flask", {"options.flask.twophase=true"}), HasSubstr("two_phase"));
  EXPECT_THAT(refused("flask", "flask", {"options.flask.two_phase=7"}), HasSubstr("true or false"));
  EXPECT_THAT(refused("flask", "flask", {"options.flsk.two_phase=true"}),
              HasSubstr("options.flsk"));
  EXPECT_EQ(refused("flask", "flask", {"options.flask.two_phase=true"}), "");
  EXPECT_THAT(find_protocol("dragon").error().message, HasSubstr("sparse-directory"));
}

} // namespace
} // namespace tandem::machine
