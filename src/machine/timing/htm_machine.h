// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For tests of transactions: a bare machine without time, or on a protocol; programs as words.
#pragma once

#include "contention/names.h"
#include "machine/cores/testing/assembler.h"
#include "machine/cores/testing/bare.h"
#include "machine/htm/counters.h"
#include "machine/htm/testing/history_checker.h"
#include "machine/htm/transactional_memory.h"
#include "machine/timing/timing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

namespace tandem::machine::testing {

using Words = std::vector<std::uint32_t>;

inline constexpr std::uint64_t kCode = 0x8000'0000;
inline constexpr std::uint64_t kHandler = 0x8008'0000;
inline constexpr std::uint64_t kData = 0x8010'0000;
inline constexpr std::uint64_t kStack = 0x8020'0000;

// Behind a protocol's name: its tables refuse what loses against transactions.
inline constexpr std::string_view kRefusing = "-refusing";
// Behind those of a way with time: cores have a window.
inline constexpr std::string_view kWindow = "-window";

// Ways to run: without time, every protocol, and those that can refuse.
inline std::vector<std::string> ways() {
  std::vector<std::string> all{"functional"};
  for (const ProtocolEntry &entry : protocols()) {
    all.push_back(entry.name);
    if (std::ranges::any_of(entry.options, [](const ProtocolOption &option) {
          return option.name == "transactions";
        }))
      all.push_back(entry.name + std::string(kRefusing));
  }
  return all;
}
inline std::string name_of_way(std::string name) {
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

struct HtmMachine {
  std::unique_ptr<BareMachine> machine;
  std::unique_ptr<TimedCores> cores;
  std::vector<std::string> rules; // that were broken
  History history;

  HtmMachine(const std::string &way, unsigned harts, const HtmOptions &htm = {},
             const TimingOptions &given = {}, unsigned jitter = 0) {
    machine = std::move(BareMachine::create({.harts = harts, .memory_size = 4U << 20})).value();
    machine->harts().on_broken_rule([this](Hart &, const char *rule) { rules.emplace_back(rule); });
    if (way == "functional") {
      machine->harts().transactions().configure(htm);
      return;
    }
    TimingOptions options = given;
    std::vector<std::string> settings{fmt::format("cores={}", harts), "network.columns=0",
                                      fmt::format("network.jitter={}", jitter)};
    std::string protocol = way;
    const auto ends_with = [&](std::string_view suffix) {
      const bool there = protocol.ends_with(suffix);
      protocol.resize(protocol.size() - (there ? suffix.size() : 0));
      return there;
    };
    if (ends_with(kWindow))
      settings.emplace_back("hart.model=\"window\"");
    if (ends_with(kRefusing))
      settings.push_back(fmt::format("options.{}.transactions=true", protocol));
    if ((*find_protocol(protocol))->bus)
      settings.emplace_back("network.kind=bus");
    options.configuration = *load_configuration("small", settings);
    options.configuration.htm = htm;
    options.seed = htm.seed;
    cores =
        std::move(TimedCores::make(protocol, options, machine->harts(), machine->clock(), nullptr))
            .value();
    machine->cores().use(cores.get());
  }
  ~HtmMachine() { machine->cores().use(nullptr); }

  [[nodiscard]] TransactionalMemory &htm() const { return machine->harts().transactions(); }
  [[nodiscard]] const HtmCounters &counters() const { return htm().counters(); }
  [[nodiscard]] Hart &hart(unsigned index = 0) const { return machine->hart(index); }
  [[nodiscard]] std::uint64_t x(unsigned reg, unsigned index = 0) const {
    return hart(index).state().x[reg];
  }
  void place(std::uint64_t at, const Words &words) const {
    EXPECT_TRUE(machine->memory().write(at, std::as_bytes(std::span(words))));
  }
  void put(std::uint64_t at, std::uint64_t value) const {
    EXPECT_TRUE(machine->memory().write_value(at, value));
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const {
    std::uint64_t value = 0;
    EXPECT_TRUE(machine->memory().peek(at, std::as_writable_bytes(std::span(&value, 1))));
    return value;
  }
  // a0 = hart, a1 = kData, sp = a stack of its own; traps go to kHandler.
  void start(unsigned index, std::uint64_t at) const {
    hart(index).start(at, index, kData);
    HartState &state = hart(index).state();
    state.x[2] = kStack + 0x1'0000 * (index + 1) - 0x100;
    state.stvec = kHandler;
    state.status |= status::kFs;
    hart(index).changed();
  }
  CoresEnd run(std::uint64_t most = 20'000'000) const { return machine->cores().run(most); }
  // One program on every hart, until all wait.
  CoresEnd run_all(Words words, std::uint64_t most = 20'000'000) const {
    words.push_back(assembler::kWfi);
    words.push_back(assembler::jump(0, -4));
    place(kCode, words);
    for (unsigned index = 0; index < machine->harts().size(); ++index)
      start(index, kCode);
    return run(most);
  }
  void record() { htm().record(&history); }
};

} // namespace tandem::machine::testing
