// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harts on the timed system for tests: bare machines under a protocol, and random programs on them.
#pragma once

#include "machine/cores/testing/bare.h"
#include "machine/timing/testing/words.h"
#include "machine/timing/timing.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

namespace tandem::machine::testing {

using namespace words; // programs of tests are of these

constexpr std::uint64_t kCode = 0x8000'0000;
constexpr std::uint64_t kData = 0x8010'0000;

// Random loads and stores of all sizes, aligned or not, atomics, pairs of reservation, branches;
// few lines, all shared, one of them beside code. Registers 20 to 27 are places, 5 to 8 values, 9
// counts turns. Each draw is a statement of its own: compilers differ in the order of arguments.
inline Program random_program(std::mt19937_64 &random, bool sees_time = true) {
  Program program;
  const auto value = [&] { return static_cast<unsigned>(5 + random() % 4); };
  const auto place = [&] { return static_cast<unsigned>(20 + random() % 8); };
  const unsigned count = 40 + static_cast<unsigned>(random() % 60);
  const auto start = static_cast<int>(program.bytes().size());
  for (unsigned i = 0; i < count; ++i) {
    const unsigned size = random() % 4;
    const int anywhere = static_cast<int>(random() % 64);
    const int aligned = anywhere & ~7;
    switch (random() % 12) {
    case 0:
    case 1:
    case 2: {
      const unsigned reg = value();
      const unsigned at = place();
      program.word(load(reg, at, random() % 8 == 0 ? anywhere : aligned, size));
      break;
    }
    case 3:
    case 4: {
      const unsigned reg = value();
      const unsigned at = place();
      program.word(store(reg, at, random() % 8 == 0 ? anywhere : aligned, size));
      break;
    }
    case 5: {
      const unsigned old = value();
      const unsigned at = place();
      program.word(atomic(kAdd, old, at, value()));
      break;
    }
    case 6: {
      const unsigned at = place();
      program.word(atomic(kReserve, 10, at, 0));
      program.word(addi(10, 10, 1));
      program.word(atomic(kConditional, 11, at, 10));
      program.word(add(6, 6, 11));
      break;
    }
    case 7: {
      const auto kind = static_cast<unsigned>(random() % 2);
      const unsigned left = value();
      program.word(branch(kind, left, value(), 8));
      const unsigned sum = value();
      program.word(addi(sum, value(), anywhere));
      break;
    }
    case 8:
      if (random() % 2 == 0)
        program.half(kShort);
      else
        program.word(random() % 2 == 0 ? kFence : kFenceWrites);
      break;
    case 9:
      program.word(sees_time ? kReadCycle : addi(10, 10, 3));
      program.word(add(7, 7, 10));
      break;
    default:
      const unsigned sum = value();
      const unsigned left = value();
      program.word(add(sum, left, value()));
    }
  }
  program.word(addi(9, 9, -1));
  program.word(branch(kEqual, 9, 0, 8));
  const int back = start - static_cast<int>(program.bytes().size());
  const auto b = static_cast<std::uint32_t>(back); // j back
  program.word((b >> 20 & 1) << 31 | (b >> 1 & 0x3ff) << 21 | (b >> 11 & 1) << 20 |
               (b >> 12 & 0xff) << 12 | 0x6f);
  program.word(kWfi);
  program.word(kJumpBack);
  return program;
}

inline Configuration machine_for(const ProtocolEntry &protocol, unsigned harts,
                                 std::vector<std::string> settings = {}) {
  settings.push_back(fmt::format("cores={}", harts));
  settings.emplace_back("network.columns=0");
  if (protocol.bus)
    settings.emplace_back("network.kind=bus");
  return *load_configuration("small", settings);
}

// Page tables in which the pages of code are at kVirtualCode, and the first page of data is at
// eight places that share an entry of a TLB. A and D are to be set by those who come first.
constexpr std::uint64_t kTables = kCode + 0x20'0000;
constexpr std::uint64_t kVirtualCode = 0x4000'0000;
constexpr std::uint64_t kSv39 = std::uint64_t{8} << 60;
constexpr std::uint64_t virtual_data(unsigned place) {
  return kVirtualCode + (place + 1) * (std::uint64_t{4} << 20) + (place % 2) * 0x1000;
}
inline std::uint64_t make_tables(Memory &memory) {
  constexpr std::uint64_t kValid = 1, kAll = 0xf; // V; with R, W, X
  const auto put = [&](std::uint64_t table, std::uint64_t index, std::uint64_t to,
                       std::uint64_t bits) {
    EXPECT_TRUE(memory.write_value(table + 8 * index, to >> 12 << 10 | bits));
  };
  const auto table = [](unsigned number) { return kTables + number * kPageBytes; };
  put(table(0), kVirtualCode >> 30, table(1), kValid);
  const auto map = [&](std::uint64_t from, std::uint64_t to) {
    const std::uint64_t index = from >> 21 & 511;
    put(table(1), index, table(2 + static_cast<unsigned>(index)), kValid);
    put(table(2 + static_cast<unsigned>(index)), from >> 12 & 511, to, kAll);
  };
  for (unsigned page = 0; page < 4; ++page)
    map(kVirtualCode + page * kPageBytes, kCode + page * kPageBytes);
  for (unsigned place = 0; place < 8; ++place)
    map(virtual_data(place), kData);
  return kSv39 | table(0) >> 12;
}

struct Timed {
  std::unique_ptr<BareMachine> machine;
  std::unique_ptr<TimedCores> cores;

  Timed(const std::string &protocol, unsigned harts, const TimingOptions &options) {
    machine = std::move(BareMachine::create({.harts = harts, .memory_size = 4U << 20})).value();
    cores =
        std::move(TimedCores::make(protocol, options, machine->harts(), machine->clock(), nullptr))
            .value();
    machine->cores().use(cores.get());
  }
  ~Timed() { machine->cores().use(nullptr); }
  void start(unsigned hart, std::uint64_t at) { machine->hart(hart).start(at, hart, kData); }
  void place(std::uint64_t at, const Program &program) const {
    ASSERT_TRUE(machine->memory().write(at, program.bytes()));
  }
  [[nodiscard]] std::uint64_t word(std::uint64_t at) const {
    std::uint64_t value = 0;
    EXPECT_TRUE(machine->memory().read_value(at, value));
    return value;
  }
  CoresEnd run(std::uint64_t most = 50'000'000) { return machine->cores().run(most); }
};

// Everything that a run leaves: registers, memory, time, and what the memory side has counted.
struct Left {
  std::vector<HartState> harts;
  std::vector<std::byte> memory;
  Cycle cycles = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
};

// With `parts`, in many runs of a few instructions each.
inline Left random_run(const ProtocolEntry &protocol, std::uint64_t seed,
                       const TimingOptions &given, bool paged = false,
                       const std::vector<std::string> &more = {}, bool parts = false) {
  std::mt19937_64 random(seed);
  const unsigned harts = 2 + seed % 7;
  const unsigned jitter = seed % 2 == 0 ? 0 : 7;
  TimingOptions options = given;
  options.seed = seed;
  std::vector<std::string> settings{fmt::format("network.jitter={}", jitter)};
  settings.insert(settings.end(), more.begin(), more.end());
  options.configuration = machine_for(protocol, harts, settings);
  Timed timed(protocol.name, harts, options);
  const std::uint64_t satp = paged ? make_tables(timed.machine->memory()) : 0;
  for (unsigned hart = 0; hart < harts; ++hart) {
    // Some run the same code, some code of their own.
    const std::uint64_t at = kCode + (hart % 3) * 0x1000 + (hart % 2) * 0x806;
    timed.place(at, random_program(random));
    timed.start(hart, at);
    HartState &state = timed.machine->hart(hart).state();
    state.x[9] = 30;
    for (unsigned reg = 20; reg < 28; ++reg)
      state.x[reg] = reg == 27 ? kCode + 0xf00 : kData + (reg - 20) % (2 + seed % 5) * 64;
    if (paged) {
      state.satp = satp;
      state.pc += kVirtualCode - kCode;
      for (unsigned reg = 20; reg < 27; ++reg)
        state.x[reg] += virtual_data(reg - 20) - kData;
      state.x[27] += kVirtualCode - kCode;
    }
    timed.machine->hart(hart).changed();
  }
  CoresEnd end = timed.run(parts ? 1 : 3'000'000);
  for (std::uint64_t run = 0; parts && end == CoresEnd::limit && run < 3'000'000; ++run)
    end = timed.run(1 + random() % 20);
  EXPECT_EQ(end, CoresEnd::deadlock) << "seed " << seed;
  Left left;
  for (unsigned hart = 0; hart < harts; ++hart) {
    left.harts.push_back(timed.machine->hart(hart).state());
    EXPECT_EQ(left.harts.back().x[9], 0U);
  }
  const auto bytes = timed.machine->memory().bytes();
  left.memory.assign(bytes.begin(), bytes.end());
  left.cycles = timed.machine->cores().schedule().round;
  left.counts = timed.cores->counts();
  return left;
}

inline bool same(const Left &a, const Left &b) {
  return a.harts == b.harts && a.memory == b.memory && a.cycles == b.cycles && a.counts == b.counts;
}

inline std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ProtocolEntry &entry : protocols())
    all.push_back(entry.name);
  return all;
}

// A test of each protocol, by its name.
class OnProtocol : public ::testing::TestWithParam<std::string> {
protected:
  static const ProtocolEntry &protocol() { return **find_protocol(GetParam()); }
};
inline std::string test_name(const ::testing::TestParamInfo<std::string> &info) {
  std::string name = info.param;
  std::ranges::replace(name, '-', '_');
  return name;
}

// Stores of the harts wait in buffers: few places, none but the oldest first, any first.
inline std::vector<std::string> buffer_of(std::uint64_t seed) {
  const char *const sizes[] = {"1", "2", "8", "64"};
  return {fmt::format("hart.store_buffer={}", sizes[seed % 4]),
          fmt::format("hart.store_order=\"{}\"", seed % 3 == 0 ? "in-order" : "weak")};
}

inline std::vector<std::string> window_of(std::uint64_t seed) {
  const char *const sizes[] = {"1", "7", "196"};
  return {"hart.model=\"window\"", fmt::format("core.window={}", sizes[seed % 3]),
          fmt::format("core.outstanding={}", seed % 4 == 0 ? 2 : 64)};
}

} // namespace tandem::machine::testing
