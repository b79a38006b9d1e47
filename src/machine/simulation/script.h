// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A script of accesses, as the random tester makes them (simulation/tester.h), and the cores that
// run it.
#pragma once

#include "machine/timed/port.h"

#include <cstdint>
#include <vector>

namespace tandem::machine {

struct TestOperation {
  std::uint32_t delay = 0; // cycles after the core could issue it
  std::uint16_t core = 0;
  bool flush = false;  // evicts the block by hand
  bool device = false; // a device without a cache does it (DMA)
  RequestKind kind = RequestKind::load;
  std::uint64_t block = 0;
};

namespace simulation {

// Runs a script. Each core has up to four accesses under way, so that its transactions overlap.
class ScriptCores {
public:
  ScriptCores(const std::vector<TestOperation> &script, unsigned cores) : cores_(cores) {
    for (const TestOperation &operation : script)
      cores_[operation.core].script.push_back(operation);
  }

  template <class S> void start(S &system) {
    for (unsigned core = 0; core < cores_.size(); ++core)
      plan(system, core);
  }

  template <class S> void step(S &system, unsigned number) {
    Core &core = cores_[number];
    core.planned = false;
    const TestOperation &operation = core.script[core.next++];
    if (operation.flush) {
      system.flush(number, operation.block);
    } else if (operation.device) {
      system.device(operation.block, access_of(operation.kind));
      ++done_;
    } else {
      const Outcome outcome = system.access(
          number, {operation.block, operation.kind, static_cast<std::uint32_t>(core.next), true});
      if (outcome.hit)
        ++done_;
      else
        ++core.outstanding;
    }
    plan(system, number);
  }

  template <class S> void complete(S &system, unsigned number, const Completion &) {
    --cores_[number].outstanding;
    ++done_;
    plan(system, number);
  }

  // Transactions without a meaning: some cores refuse one access in four, others have a claim.
  [[nodiscard]] std::uint64_t refusing(unsigned core, const Request &request, std::uint64_t asked) {
    const std::uint64_t chance = draw();
    return chance % 4 != 0 || request.kind == RequestKind::fetch
               ? 0
               : chance >> 8 & draw() & asked & ~(std::uint64_t{1} << core);
  }
  [[nodiscard]] bool marked() { return draw() % 4 == 0; }

  [[nodiscard]] std::uint64_t done() const { return done_; }

private:
  static constexpr unsigned kOutstanding = 4;
  struct Core {
    std::vector<TestOperation> script;
    std::size_t next = 0;
    unsigned outstanding = 0;
    bool planned = false;
  };

  template <class S> void plan(S &system, unsigned number) {
    Core &core = cores_[number];
    if (core.planned || core.next == core.script.size() || core.outstanding == kOutstanding)
      return;
    core.planned = true;
    system.wake_core(number, system.now() + core.script[core.next].delay);
  }

  std::uint64_t draw() {
    random_ = random_ * 6364136223846793005U + 1442695040888963407U;
    return random_ >> 16;
  }

  std::vector<Core> cores_;
  std::uint64_t done_ = 0;
  std::uint64_t random_ = 1; // of transactions
};

} // namespace simulation
} // namespace tandem::machine
