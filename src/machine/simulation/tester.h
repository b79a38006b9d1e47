// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The random tester: cores on a tiny machine do random things to few blocks, every value is checked
// against the last store, and at the end nothing may be under way. A failure is shrunk to a script
// of few operations.
//
// What a seed decides: the machine (caches of a few lines, associativities, latencies, jitter that
// reorders messages, a starved memory channel, inclusion, multicast) and the script (loads,
// fetches, stores, atomics, load-reserved and store-conditional, evictions by hand, reads and
// writes of a device without a cache; one core is a device with a cache that walks through memory).
#pragma once

#include "machine/simulation/driver.h"
#include "machine/simulation/script.h"
#include "machine/simulation/simulation.h"
#include "machine/timed/system.h"

#include <optional>
#include <random>

namespace tandem::machine {

struct TestRequest {
  unsigned cores = 4;
  std::uint64_t seed = 1;
  std::uint32_t operations = 20'000; // of all cores together
  bool credits = false;              // buffers are a limit, whatever the seed
  unsigned shrink_runs = 3'000;      // at most, to shrink a failure
  // Options of the protocol, by name; and fields of the machine that the seed must not choose.
  std::map<std::string, std::uint64_t> options = {};
};

struct TestResult {
  std::string failure;               // empty: all is well
  std::vector<TestOperation> script; // of the failure, shrunk
  std::string machine;               // of the failure: its configuration as TOML
  std::vector<RowCount> rows;        // how often each was taken
  std::uint64_t accesses = 0;
  Cycle cycles = 0;
};

// What the seed makes of the machine and of the script.
Configuration test_machine(const TestRequest &request, bool bus);
std::vector<TestOperation> test_script(const TestRequest &request);
std::string to_text(const TestOperation &operation);

namespace simulation {

template <class P> typename P::Config config_of(const Configuration &configuration);
template <class P, class S> std::vector<RowCount> rows_of(const S &system);

// The failure, or nothing.
template <class P>
std::optional<std::string> run_script(const Configuration &configuration,
                                      const std::vector<TestOperation> &script,
                                      const TestRequest &request, TestResult *result) {
  ScriptCores cores(script, configuration.cores);
  Driver driver(cores);
  System<P, Driver> system(configuration, config_of<P>(configuration),
                           {.seed = request.seed, .check_values = true}, driver);
  // Without an access that ends in so many events, the machine runs on the spot.
  constexpr std::uint64_t kPatience = 1 << 20;
  try {
    cores.start(system);
    for (std::uint64_t before = 0; system.run(kPatience) == kPatience; before = cores.done())
      if (before == cores.done())
        return fmt::format("{}: no access ended in {} events, cycle {}\n{}", P::kName, kPatience,
                           system.now(), system.stuck());
  } catch (const ProtocolFailure &failure) {
    return failure.what();
  }
  if (result != nullptr) {
    result->rows = rows_of<P>(system);
    result->accesses = cores.done();
    result->cycles = system.now();
  }
  const std::string stuck = system.stuck();
  if (system.pending() != 0 || !stuck.empty())
    return fmt::format("{}: {} accesses never end, cycle {}\n{}", P::kName, system.pending(),
                       system.now(), stuck);
  return std::nullopt;
}

// Removes what the failure does not need: ever smaller pieces of the script (Zeller's ddmin).
template <class P>
void shrink(const Configuration &configuration, const TestRequest &request, TestResult &result) {
  unsigned runs = 0;
  for (std::size_t piece = result.script.size() / 2; piece > 0 && runs < request.shrink_runs;) {
    bool smaller = false;
    for (std::size_t at = 0; at < result.script.size() && runs < request.shrink_runs; ++runs) {
      std::vector<TestOperation> less = result.script;
      const std::size_t end = std::min(at + piece, less.size());
      less.erase(less.begin() + static_cast<std::ptrdiff_t>(at),
                 less.begin() + static_cast<std::ptrdiff_t>(end));
      if (auto failure = run_script<P>(configuration, less, request, nullptr)) {
        result.script = std::move(less);
        result.failure = std::move(*failure);
        smaller = true;
      } else {
        at += piece;
      }
    }
    if (!smaller || piece > result.script.size())
      piece /= 2;
  }
}

template <class P> Result<TestResult> test(const TestRequest &request) {
  Configuration configuration = test_machine(request, P::kBus);
  configuration.options[P::kName] = request.options;
  TestResult result;
  result.script = test_script(request);
  std::optional<std::string> failure =
      run_script<P>(configuration, result.script, request, &result);
  if (!failure) {
    result.script.clear();
    return result;
  }
  result.failure = std::move(*failure);
  result.machine = to_toml(configuration);
  shrink<P>(configuration, request, result);
  return result;
}

} // namespace simulation
} // namespace tandem::machine
