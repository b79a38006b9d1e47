// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harts on every protocol: running ahead changes nothing, checked values change nothing, what
// instructions cost is what the machine says, locks lock, modes and regions.
#include "machine/timing/timing.h"

#include "machine/cores/testing/bare.h"
#include "machine/timing/testing/words.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <random>

namespace tandem::machine {
namespace {

using testing::BareMachine;
using namespace testing::words;

constexpr std::uint64_t kCode = 0x8000'0000;
constexpr std::uint64_t kData = 0x8010'0000;

// Random loads and stores of all sizes, aligned or not, atomics, pairs of reservation, branches;
// few lines, all shared, one of them beside code. Registers 20 to 27 are places, 5 to 8 values, 9
// counts turns.
Program random_program(std::mt19937_64 &random, bool sees_time = true) {
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
    case 2:
      program.word(load(value(), place(), random() % 8 == 0 ? anywhere : aligned, size));
      break;
    case 3:
    case 4:
      program.word(store(value(), place(), random() % 8 == 0 ? anywhere : aligned, size));
      break;
    case 5:
      program.word(atomic(kAdd, value(), place(), value()));
      break;
    case 6: {
      const unsigned at = place();
      program.word(atomic(kReserve, 10, at, 0));
      program.word(addi(10, 10, 1));
      program.word(atomic(kConditional, 11, at, 10));
      program.word(add(6, 6, 11));
      break;
    }
    case 7:
      program.word(branch(random() % 2, value(), value(), 8));
      program.word(addi(value(), value(), anywhere));
      break;
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
      program.word(add(value(), value(), value()));
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

Configuration machine_for(const ProtocolEntry &protocol, unsigned harts,
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
std::uint64_t make_tables(Memory &memory) {
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

Left random_run(const ProtocolEntry &protocol, std::uint64_t seed, const TimingOptions &given,
                bool paged = false, const std::vector<std::string> &more = {}) {
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
  EXPECT_EQ(timed.run(3'000'000), CoresEnd::deadlock) << "seed " << seed;
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

bool same(const Left &a, const Left &b) {
  return a.harts == b.harts && a.memory == b.memory && a.cycles == b.cycles && a.counts == b.counts;
}

class Timing : public ::testing::TestWithParam<std::string> {
protected:
  const ProtocolEntry &protocol() { return **find_protocol(GetParam()); }
};
std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const ProtocolEntry &entry : protocols())
    all.push_back(entry.name);
  return all;
}
INSTANTIATE_TEST_SUITE_P(Machine, Timing, ::testing::ValuesIn(names()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST_P(Timing, RunningAheadChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const Left ahead = random_run(protocol(), seed, {});
    const Left lockstep = random_run(protocol(), seed, {.lockstep = true});
    ASSERT_TRUE(ahead.harts == lockstep.harts) << "seed " << seed;
    ASSERT_TRUE(ahead.memory == lockstep.memory) << "seed " << seed;
    ASSERT_EQ(ahead.cycles, lockstep.cycles) << "seed " << seed;
    ASSERT_EQ(ahead.counts, lockstep.counts) << "seed " << seed;
  }
}

// The same with page tables that all walk and update, and TLBs that miss all the time.
TEST_P(Timing, RunningAheadChangesNothingOfWalks) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Left ahead = random_run(protocol(), seed, {}, true);
    const Left lockstep = random_run(protocol(), seed, {.lockstep = true}, true);
    ASSERT_TRUE(ahead.harts == lockstep.harts) << "seed " << seed;
    ASSERT_TRUE(ahead.memory == lockstep.memory) << "seed " << seed;
    ASSERT_EQ(ahead.cycles, lockstep.cycles) << "seed " << seed;
    ASSERT_EQ(ahead.counts, lockstep.counts) << "seed " << seed;
    const Left checked = random_run(protocol(), seed, {.check_values = true}, true);
    ASSERT_TRUE(ahead.harts == checked.harts) << "seed " << seed;
    ASSERT_TRUE(ahead.memory == checked.memory) << "seed " << seed;
  }
}

// Stores of the harts wait in buffers: few places, none but the oldest first, any first.
std::vector<std::string> buffer_of(std::uint64_t seed) {
  const char *const sizes[] = {"1", "2", "8", "64"};
  return {fmt::format("hart.store_buffer={}", sizes[seed % 4]),
          fmt::format("hart.store_order=\"{}\"", seed % 3 == 0 ? "in-order" : "weak")};
}

TEST_P(Timing, RunningAheadChangesNothingOfStoreBuffers) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const bool paged = seed % 4 == 3;
    const Left ahead = random_run(protocol(), seed, {}, paged, buffer_of(seed));
    const Left lockstep = random_run(protocol(), seed, {.lockstep = true}, paged, buffer_of(seed));
    ASSERT_TRUE(ahead.harts == lockstep.harts) << "seed " << seed;
    ASSERT_TRUE(ahead.memory == lockstep.memory) << "seed " << seed;
    ASSERT_EQ(ahead.cycles, lockstep.cycles) << "seed " << seed;
    ASSERT_EQ(ahead.counts, lockstep.counts) << "seed " << seed;
    const Left checked =
        random_run(protocol(), seed, {.check_values = true}, paged, buffer_of(seed));
    ASSERT_TRUE(ahead.harts == checked.harts) << "seed " << seed;
    ASSERT_TRUE(ahead.memory == checked.memory) << "seed " << seed;
    ASSERT_EQ(ahead.cycles, checked.cycles) << "seed " << seed;
  }
}

TEST_P(Timing, AHorizonTwoCyclesTooLongIsFoundWithStoreBuffers) {
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 20 && !found; ++seed)
    found = !same(random_run(protocol(), seed, {.too_far = 2}, false, buffer_of(seed)),
                  random_run(protocol(), seed, {.lockstep = true}, false, buffer_of(seed)));
  EXPECT_TRUE(found);
}

// A horizon that is two cycles too long shows in some seed.
TEST_P(Timing, AHorizonTwoCyclesTooLongIsFound) {
  for (const bool paged : {false, true}) {
    bool found = false;
    for (std::uint64_t seed = 1; seed <= 20 && !found; ++seed)
      found = !same(random_run(protocol(), seed, {.too_far = 2}, paged),
                    random_run(protocol(), seed, {.lockstep = true}, paged));
    EXPECT_TRUE(found) << (paged ? "with page tables" : "without");
  }
}

std::vector<std::string> window_of(std::uint64_t seed) {
  const char *const sizes[] = {"1", "7", "196"};
  return {"hart.model=\"window\"", fmt::format("core.window={}", sizes[seed % 3]),
          fmt::format("core.outstanding={}", seed % 4 == 0 ? 2 : 64)};
}

TEST_P(Timing, WindowsRunTheSameWatchedAndWithCheckedValues) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const bool paged = seed % 4 == 3;
    const Left once = random_run(protocol(), seed, {}, paged, window_of(seed));
    const Left watched = random_run(protocol(), seed, {.timeline = true}, paged, window_of(seed));
    ASSERT_TRUE(same(once, watched)) << "seed " << seed;
    const Left checked =
        random_run(protocol(), seed, {.check_values = true}, paged, window_of(seed));
    ASSERT_TRUE(once.harts == checked.harts) << "seed " << seed;
    ASSERT_TRUE(once.memory == checked.memory) << "seed " << seed;
    ASSERT_EQ(once.cycles, checked.cycles) << "seed " << seed;
  }
}

// Every access through the tables, each compared with the last store: slower, and nothing else.
TEST_P(Timing, CheckedValuesAreRightAndChangeNothing) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Left quick = random_run(protocol(), seed, {});
    const Left checked = random_run(protocol(), seed, {.check_values = true});
    ASSERT_TRUE(quick.harts == checked.harts) << "seed " << seed;
    ASSERT_TRUE(quick.memory == checked.memory) << "seed " << seed;
    ASSERT_EQ(quick.cycles, checked.cycles) << "seed " << seed;
  }
}

// A program with one thread ends as it does without time, whatever modes it goes through.
TEST_P(Timing, OneHartEndsAsItDoesWithoutTime) {
  const auto run = [&](std::uint64_t seed, Mode mode, bool hints, bool paged = false,
                       const std::vector<std::string> &more = {}) {
    std::mt19937_64 random(seed);
    Program program;
    if (hints)
      program.word(hint_of(hint::kWarming + seed % 2));
    const Program body = random_program(random, false);
    TimingOptions options;
    options.mode = mode;
    options.configuration = machine_for(protocol(), 1, more);
    Timed timed(protocol().name, 1, options);
    timed.place(kCode, program);
    timed.place(kCode + program.bytes().size(), body);
    timed.start(0, kCode);
    HartState &state = timed.machine->hart().state();
    state.x[9] = 50;
    for (unsigned reg = 20; reg < 28; ++reg)
      state.x[reg] = paged ? virtual_data(reg - 20) + (reg - 20) % 3 * 64 : kData + (reg - 20) * 64;
    if (paged) {
      state.satp = make_tables(timed.machine->memory());
      state.pc += kVirtualCode - kCode;
    }
    timed.machine->hart().changed();
    EXPECT_EQ(timed.run(), CoresEnd::deadlock);
    EXPECT_EQ(timed.cores->mode() == Mode::functional, mode == Mode::functional && !hints);
    HartState left = timed.machine->hart().state();
    left.instret -= hints ? 1 : 0;
    left.pc = 0;
    left.reservation = kNoReservation;
    const auto bytes = timed.machine->memory().bytes().subspan(kData - kCode);
    return std::pair(left, std::vector<std::byte>(bytes.begin(), bytes.end()));
  };
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const auto without = run(seed, Mode::functional, false);
    EXPECT_TRUE(without == run(seed, Mode::timing, false)) << "seed " << seed;
    EXPECT_TRUE(without == run(seed, Mode::warming, false)) << "seed " << seed;
    EXPECT_TRUE(without == run(seed, Mode::functional, true)) << "seed " << seed;
    const auto paged = run(seed, Mode::functional, false, true);
    EXPECT_TRUE(paged == run(seed, Mode::timing, false, true)) << "seed " << seed;
    EXPECT_TRUE(paged == run(seed, Mode::functional, true, true)) << "seed " << seed;
    EXPECT_TRUE(without == run(seed, Mode::timing, false, false, buffer_of(seed)))
        << "seed " << seed;
    EXPECT_TRUE(without == run(seed, Mode::functional, true, false, buffer_of(seed)))
        << "seed " << seed;
    EXPECT_TRUE(paged == run(seed, Mode::timing, false, true, buffer_of(seed))) << "seed " << seed;
    EXPECT_TRUE(without == run(seed, Mode::timing, false, false, window_of(seed)))
        << "seed " << seed;
    EXPECT_TRUE(without == run(seed, Mode::functional, true, false, window_of(seed)))
        << "seed " << seed;
    EXPECT_TRUE(paged == run(seed, Mode::timing, false, true, window_of(seed))) << "seed " << seed;
  }
}

// What loads cost by the clock that the program reads, beside what the memory side has counted.
TEST_P(Timing, AnAccessCostsItsLatency) {
  TimingOptions options;
  options.configuration = machine_for(protocol(), 1);
  const Configuration &machine = options.configuration;
  Timed timed(protocol().name, 1, options);
  // All in one line of code: the clock, a load, the clock; twice the same, then one that has moved
  // to the L2 because the set of its L1 is full.
  const auto way = static_cast<int>(machine.l1d.sets() * kBlockBytes); // 8 sets: 512 bytes
  ASSERT_LE(way * 3, 2047);
  Words words;
  const auto measure = [&](unsigned into, int offset) {
    words.push_back(kReadCycle);
    words.push_back(load(5, 11, offset));
    words.push_back(kReadCycle | 1U << 7); // rdcycle x11 ^ 1: patched below
    words.back() = 0xc0002073 | into << 7;
    words.push_back(0x40000033 | 10U << 20 | into << 15 | into << 7); // sub into, into, x10
  };
  measure(20, 0);
  measure(21, 0);
  words.push_back(load(6, 11, way));
  words.push_back(load(6, 11, 2 * way));
  measure(22, 0);
  words.push_back(kWfi);
  words.push_back(kJumpBack);
  timed.place(kCode, program_of(words));
  timed.start(0, kCode);
  EXPECT_EQ(timed.run(), CoresEnd::deadlock);
  const auto &x = timed.machine->hart().state().x;
  const RunResult result = timed.cores->result();
  const CoreStatistics &core = result.statistics.core;
  EXPECT_EQ(x[21], 2U) << "a hit: the clock's cycle and the load's";
  EXPECT_EQ(x[22], 1U + machine.l1d.latency + machine.l2.latency);
  EXPECT_GT(x[20], 1U + machine.memory.latency);
  EXPECT_EQ(core.l2_hits, 1U);
  // Three loads and a line of code came from memory. The first cycle of each is an
  // instruction's.
  const HartCycles &cycles = timed.cores->harts()[0];
  EXPECT_EQ(core.misses, 4U);
  EXPECT_EQ(cycles.loads + cycles.fetches + 4 + 1, core.miss_latency.sum + machine.l1d.latency +
                                                       machine.l2.latency +
                                                       // a fetch goes on when it is performed
                                                       (machine.l1i.latency - machine.l1d.latency));
  EXPECT_EQ(cycles.instructions, words.size() - 1);
  // Timers of the protocol may come later.
  EXPECT_GE(result.cycles, cycles.instructions + cycles.loads + cycles.fetches);
}

// Three entries for each page, and the A of each leaf, through the L1 and what is behind it.
TEST_P(Timing, AWalkIsAnAccessForEachEntry) {
  TimingOptions options;
  options.configuration = machine_for(protocol(), 1);
  Timed timed(protocol().name, 1, options);
  timed.place(kCode, program_of({load(5, 20, 0), load(5, 21, 0), kWfi, kJumpBack}));
  timed.start(0, kCode);
  HartState &state = timed.machine->hart().state();
  state.satp = make_tables(timed.machine->memory());
  state.pc = kVirtualCode;
  state.x[20] = virtual_data(0);
  state.x[21] = virtual_data(1); // of a table of its own, by the same line of the upper ones
  timed.machine->hart().changed();
  EXPECT_EQ(timed.run(), CoresEnd::deadlock);
  const RunResult result = timed.cores->result();
  EXPECT_EQ(result.statistics.core.loads, 3U * 3 + 2);
  EXPECT_EQ(result.statistics.core.stores, 3U); // A
  // A line of the root, one of the middle, three of leaves; the data's, the code's. Where all lie
  // in one set, some more than once.
  EXPECT_GE(result.statistics.core.misses, 1U + 1 + 3 + 1 + 1);
  const HartCycles &cycles = timed.cores->harts()[0];
  EXPECT_GT(cycles.walks, 5 * options.configuration.memory.latency);
  EXPECT_GT(cycles.loads, options.configuration.memory.latency);
}

// What a device writes leaves the caches, whatever it was there; what it reads stays.
TEST_P(Timing, ADevicesAccessesAreCoherent) {
  TimingOptions options;
  options.configuration = machine_for(protocol(), 2);
  options.check_values = true;
  Timed timed(protocol().name, 2, options);
  timed.place(kCode,
              program_of({load(5, 11, 0), load(6, 11, 64), store(6, 11, 128), kWfi, kJumpBack}));
  const auto again = [&] {
    for (unsigned hart = 0; hart < 2; ++hart) {
      timed.machine->hart(hart).stop();
      timed.start(hart, kCode);
      EXPECT_EQ(timed.run(), CoresEnd::deadlock);
    }
    return timed.cores->result().statistics;
  };
  again();
  const std::uint64_t first = again().core.misses;
  const std::uint64_t settled = again().core.misses;
  timed.cores->heard_access(kData + 8, 64, true); // two blocks
  timed.cores->heard_access(kData + 128, 1, false);
  EXPECT_EQ(timed.run(), CoresEnd::deadlock); // until they are done
  const Statistics after = again();
  EXPECT_EQ(after.device_writes, 2U);
  EXPECT_EQ(after.device_reads, 1U);
  const std::uint64_t usual = settled - first;
  EXPECT_EQ(after.core.misses - settled, usual + 2 * 2) << "each hart has lost two blocks";
}

// A wait for a device's traffic ends when the last block has been transferred, and not before harts
// could notice; without traffic there is no call.
TEST_P(Timing, TheEndOfADevicesTrafficIsTold) {
  TimingOptions options;
  options.configuration = machine_for(protocol(), 2);
  Timed timed(protocol().name, 2, options);
  timed.place(kCode, program_of({load(5, 11, 0), kWfi, kJumpBack}));
  timed.start(0, kCode);
  const auto told = [&](Cycle &at) {
    return timed.cores->when_settled([&at](Cycle cycle) { at = cycle; });
  };
  Cycle none = 0;
  EXPECT_FALSE(told(none));
  constexpr unsigned kBlocks = 20;
  timed.cores->heard_access(kData, kBlocks * kLineBytes, true);
  Cycle first = 0;
  EXPECT_TRUE(told(first));
  timed.cores->heard_access(kData, 1, false);
  Cycle second = 0;
  EXPECT_TRUE(told(second));
  EXPECT_EQ(first, 0U);
  EXPECT_EQ(timed.run(), CoresEnd::deadlock);
  const Statistics after = timed.cores->result().statistics;
  EXPECT_EQ(after.device_writes, kBlocks);
  EXPECT_GT(first, 0U);
  EXPECT_GE(second, first);
  EXPECT_FALSE(told(none));
  EXPECT_EQ(none, 0U);
}

// Every cycle is spent on something, and a timeline changes nothing. Two harts that write
// neighbours in a line share it falsely; a counter that both add to is shared.
TEST_P(Timing, ATimelineSaysWhereCyclesWent) {
  constexpr unsigned kTurns = 100;
  const auto run = [&](bool kept) {
    TimingOptions options;
    options.configuration = machine_for(protocol(), 2);
    options.timeline = kept;
    auto timed = std::make_unique<Timed>(protocol().name, 2, options);
    timed->place(kCode,
                 program_of({store(9, 20, 0), addi(6, 0, 1), atomic(kAdd, 5, 11, 6), addi(9, 9, -1),
                             branch(kNotEqual, 9, 0, -16), kWfi, kJumpBack}));
    for (unsigned hart = 0; hart < 2; ++hart) {
      timed->start(hart, kCode);
      timed->machine->hart(hart).state().x[9] = kTurns;
      timed->machine->hart(hart).state().x[20] = kData + 64 + hart * 8;
    }
    EXPECT_EQ(timed->run(), CoresEnd::deadlock);
    return timed;
  };
  const auto without = run(false);
  EXPECT_EQ(without->cores->timeline(), nullptr);
  const auto timed = run(true);
  EXPECT_EQ(timed->cores->counts(), without->cores->counts());
  const Timeline &timeline = *timed->cores->timeline();
  for (unsigned hart = 0; hart < 2; ++hart) {
    Timeline::Cycles sum{};
    for (const Timeline::Cycles &cycles : timeline.of(hart))
      for (std::size_t kind = 0; kind < kSpentKinds; ++kind)
        sum[kind] += cycles[kind];
    const HartCycles &cycles = timed->cores->harts()[hart];
    const auto of = [&](Spent what) { return sum[static_cast<std::size_t>(what)]; };
    EXPECT_EQ(of(Spent::system), cycles.instructions);
    EXPECT_EQ(of(Spent::user), 0U);
    EXPECT_EQ(of(Spent::fetch), cycles.fetches);
    EXPECT_EQ(of(Spent::store), cycles.stores);
    EXPECT_EQ(of(Spent::atomic), cycles.atomics);
    std::uint64_t all = 0;
    for (const std::uint64_t each : sum)
      all += each;
    EXPECT_EQ(all, timed->machine->cores().schedule().round);
  }
  const LineStory &apart = timeline.lines().at((kData + 64) / kLineBytes);
  EXPECT_EQ(apart.sharing(), LineStory::Sharing::falsely);
  EXPECT_EQ(apart.harts.at(0).bytes_written, 0xffU);
  EXPECT_EQ(apart.harts.at(1).bytes_written, 0xff00U);
  EXPECT_EQ(apart.places.count(kCode), 1U);
  EXPECT_EQ(timeline.lines().at(kData / kLineBytes).sharing(), LineStory::Sharing::truly);
}

// A lock of test-and-set, and a counter behind it that only plain loads and stores touch.
TEST_P(Timing, LocksLock) {
  constexpr unsigned kHarts = 4;
  constexpr unsigned kTurns = 200;
  for (const unsigned way : {0U, 1U, 2U}) {
    TimingOptions options;
    options.configuration =
        machine_for(protocol(), kHarts, way == 2 ? window_of(kTurns) : std::vector<std::string>());
    options.check_values = way > 0;
    Timed timed(protocol().name, kHarts, options);
    timed.place(kCode, program_of({
                           addi(6, 0, 1),
                           atomic(1, 5, 11, 6), // amoswap
                           branch(kNotEqual, 5, 0, -4),
                           load(7, 11, 128),
                           addi(7, 7, 1),
                           store(7, 11, 128),
                           store(0, 11, 0),
                           addi(9, 9, -1),
                           branch(kNotEqual, 9, 0, -28),
                           kWfi,
                           kJumpBack,
                       }));
    for (unsigned hart = 0; hart < kHarts; ++hart) {
      timed.start(hart, kCode);
      timed.machine->hart(hart).state().x[9] = kTurns;
    }
    EXPECT_EQ(timed.run(), CoresEnd::deadlock);
    EXPECT_EQ(timed.word(kData + 128), kHarts * kTurns);
    EXPECT_EQ(timed.word(kData), 0U);
  }
}

// Harts that count by load-reserved and store-conditional come to an end, and nothing is lost: with
// time, without the time of messages (when they take the line from each other the soonest), and on
// cores with a window.
TEST_P(Timing, PairsOfReservationsCount) {
  constexpr unsigned kHarts = 8;
  constexpr unsigned kTurns = 200;
  for (const bool window : {false, true})
    for (const Mode mode : {Mode::timing, Mode::warming}) {
      TimingOptions options;
      options.mode = mode;
      options.configuration =
          machine_for(protocol(), kHarts, window ? window_of(kTurns) : std::vector<std::string>());
      Timed timed(protocol().name, kHarts, options);
      timed.place(kCode, program_of({
                             load(7, 11, 0),
                             addi(8, 7, 1),
                             atomic(kReserve, 5, 11, 0),
                             branch(kNotEqual, 5, 7, 12),
                             atomic(kConditional, 6, 11, 8),
                             branch(kNotEqual, 6, 0, -12),
                             branch(kNotEqual, 5, 7, -24), // another one has counted
                             addi(9, 9, -1),
                             branch(kNotEqual, 9, 0, -32),
                             kWfi,
                             kJumpBack,
                         }));
      for (unsigned hart = 0; hart < kHarts; ++hart) {
        timed.start(hart, kCode);
        timed.machine->hart(hart).state().x[9] = kTurns;
      }
      EXPECT_EQ(timed.run(5'000'000), CoresEnd::deadlock)
          << (window ? "window, " : "in order, ") << (mode == Mode::timing ? "timing" : "warming");
      EXPECT_EQ(timed.word(kData), kHarts * kTurns);
    }
}

// A pair of reservation and plain stores of others in between: what is stored on entry, before the
// protocol knows of it, is no less a store. The pair adds 2^32 to a word, the others write its
// lower half.
TEST_P(Timing, StoresOfWindowsBreakReservations) {
  constexpr unsigned kHarts = 4;
  constexpr unsigned kTurns = 300;
  TimingOptions options;
  options.configuration = machine_for(protocol(), kHarts, {"hart.model=\"window\""});
  Timed timed(protocol().name, kHarts, options);
  timed.place(kCode, program_of({
                         atomic(kReserve, 5, 11, 0),
                         add(5, 5, 20),
                         atomic(kConditional, 6, 11, 5),
                         branch(kNotEqual, 6, 0, -12),
                         addi(9, 9, -1),
                         branch(kNotEqual, 9, 0, -20),
                         kWfi,
                         kJumpBack,
                     }));
  // Each of the others writes a byte of its own, and looks a while later whether it is still there.
  Words writes{store(9, 21, 0, 0)};
  writes.resize(40, addi(10, 10, 1));
  writes.insert(writes.end(), {load(5, 21, 0, 0), branch(kEqual, 5, 9, 8), addi(12, 12, 1),
                               addi(9, 9, -1), branch(kNotEqual, 9, 0, -44 * 4), kWfi, kJumpBack});
  timed.place(kCode + 0x1000, program_of(writes));
  for (unsigned hart = 0; hart < kHarts; ++hart) {
    timed.start(hart, hart == 0 ? kCode : kCode + 0x1000);
    HartState &state = timed.machine->hart(hart).state();
    state.x[9] = hart == 0 ? kTurns : 100;
    state.x[20] = std::uint64_t{1} << 32;
    state.x[21] = kData + hart;
  }
  EXPECT_EQ(timed.run(5'000'000), CoresEnd::deadlock);
  for (unsigned hart = 1; hart < kHarts; ++hart)
    EXPECT_EQ(timed.machine->hart(hart).state().x[12], 0U) << "a byte was lost";
  EXPECT_EQ(timed.word(kData), (std::uint64_t{kTurns} << 32) + 0x01010100);
}

// What a program takes between two readings of the clock, in a machine with caches as the paper's.
class Windows : public Timing {
protected:
  // Cycles from the end of the first reading to that of the second, less its own.
  std::uint64_t takes(const Words &between, std::vector<std::string> settings = {},
                      const Words &before = {}) {
    settings.emplace_back("hart.model=\"window\"");
    settings.emplace_back("cores=1");
    settings.emplace_back("memory.controllers=1");
    settings.emplace_back("network.columns=0");
    if (protocol().bus)
      settings.emplace_back("network.kind=bus");
    TimingOptions options;
    options.configuration = *load_configuration("flask", settings);
    Timed timed(protocol().name, 1, options);
    Words words = before; // twice: then the lines of code are in the L1
    words.push_back(kReadCycle);
    words.insert(words.end(), between.begin(), between.end());
    words.push_back(0xc0002073U | 5U << 7); // rdcycle x5
    words.push_back(kWfi);
    words.push_back(kJumpBack);
    timed.place(kCode, program_of(words));
    const auto run = [&](std::uint64_t data) {
      timed.machine->hart().stop();
      timed.start(0, kCode);
      HartState &state = timed.machine->hart().state();
      state.x[11] = data;
      EXPECT_EQ(timed.run(), CoresEnd::deadlock);
      return state.x[5] - state.x[10] - 1;
    };
    constexpr std::uint64_t kFresh = kData + 0x8'0000; // not used by the first run
    for (const std::uint64_t at : {kData, kFresh})
      for (unsigned line = 0; line < 64; ++line) // each points to the next
        EXPECT_TRUE(
            timed.machine->memory().write_value(at + line * 64, at + std::uint64_t{line + 1} * 64));
    run(kData);
    return run(kFresh);
  }
  std::uint64_t miss() { return takes({load(6, 11, 0)}); }
};
INSTANTIATE_TEST_SUITE_P(Machine, Windows, ::testing::ValuesIn(names()), [](const auto &info) {
  std::string name = info.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

Words repeated(unsigned count, std::uint32_t word) { return Words(count, word); }

TEST_P(Windows, ComputeAsWideAsTheirUnits) {
  constexpr std::uint32_t kMultiply = 0x02000033 | 6U << 20 | 6U << 15 | 6U << 7; // x6 = x6 * x6
  constexpr std::uint32_t kDivide = kMultiply | 4U << 12;
  EXPECT_EQ(takes({}), 0U);
  EXPECT_EQ(takes(repeated(60, addi(6, 0, 1))), 60U / 4);
  EXPECT_EQ(takes(repeated(60, addi(6, 0, 1)), {"hart.integer_units=6"}), 60U / 6);
  EXPECT_EQ(takes(repeated(60, addi(6, 0, 1)), {"hart.integer_units=16", "core.issue_width=3"}),
            60U / 3);
  EXPECT_EQ(takes(repeated(60, addi(6, 6, 1))), 60U);
  EXPECT_EQ(takes(repeated(10, kMultiply)), 10U * 3);
  EXPECT_EQ(takes(repeated(10, kDivide)), 10U * 20);
}

TEST_P(Windows, DependentLoadsCostTheirLatency) {
  const std::uint64_t one = miss();
  EXPECT_GT(one, 240U);
  for (const unsigned count : {2U, 5U})
    EXPECT_EQ(takes(repeated(count, load(11, 11, 0))), count * one);
  // What needs a value has it in the very cycle in which the load is done, and no earlier.
  EXPECT_EQ(takes({load(6, 11, 0), addi(7, 6, 1)}), one + 1);
  EXPECT_EQ(takes({load(6, 11, 0), addi(7, 0, 1)}), one);
  Words chain{load(6, 11, 0), addi(6, 6, 1)};
  chain.resize(2 + one, addi(7, 7, 1)); // as long as the miss: no longer than it
  EXPECT_EQ(takes(chain, {"core.window=4096"}), one + 1);
}

// The same of hits in the L1 and the L2, ready at t and not at t - 1.
TEST_P(Windows, HitsCostTheirLatency) {
  const Words warm{load(6, 11, 0), load(6, 11, 8), add(6, 6, 6)};
  EXPECT_EQ(takes({load(6, 11, 16), addi(6, 6, 0)}, {}, warm), 1U + 1);
  EXPECT_EQ(takes(repeated(4, load(11, 11, 0)), {"l1d.latency=3"}, {store(11, 11, 0), kFence}),
            4U * 3);
  // Five lines of one set of four ways: the first has moved to the L2.
  Words fill{0x000022b7}; // lui x5, 2: 8 KiB
  fill.push_back(add(7, 11, 0));
  for (unsigned i = 0; i < 5; ++i) {
    fill.push_back(store(11, 7, 0));
    fill.push_back(add(7, 7, 5));
  }
  fill.push_back(kFence);
  EXPECT_EQ(takes({load(6, 11, 0), addi(6, 6, 0)}, {}, fill), 1U + 2 + 1);
}

TEST_P(Windows, IndependentLoadsOverlap) {
  const std::uint64_t one = miss();
  Words loads;
  for (int i = 0; i < 31; ++i) // of 2 KiB of offsets
    loads.push_back(load(6, 11, i * 64));
  const std::uint64_t together = takes(loads);
  EXPECT_GE(together, one);
  EXPECT_LT(together, one + 31 * 16) << "the channel of memory takes 6 cycles for each";
  // One after the other if a core may have one miss, two by two with two.
  EXPECT_EQ(takes({loads.begin(), loads.begin() + 6}, {"core.outstanding=1"}), 6 * one);
  const std::uint64_t pairs = takes({loads.begin(), loads.begin() + 6}, {"core.outstanding=2"});
  EXPECT_GE(pairs, 3 * one);
  EXPECT_LT(pairs, 3 * one + 3 * 16);
}

TEST_P(Windows, SixtyFourIndependentLoadsOverlap) {
  const std::uint64_t one = miss();
  Words loads;
  for (int half = -32; half < 32; ++half) // 2 KiB on both sides of the place
    loads.push_back(load(6, 11, half * 64));
  const std::uint64_t together = takes(loads);
  EXPECT_GE(together, one);
  EXPECT_LT(together, one + 64 * 16);
}

// A miss is in the shadow of another one if both are in the window, to the instruction.
TEST_P(Windows, TheWindowFills) {
  const std::uint64_t one = miss();
  const auto with = [&](unsigned between) {
    Words words{load(6, 11, 0)};
    words.resize(1 + between, addi(7, 0, 1));
    words.push_back(load(8, 11, 64));
    return takes(words);
  };
  const std::uint64_t shadowed = with(194);
  EXPECT_LT(shadowed, one + 100);
  EXPECT_GE(with(195), 2 * one);
}

// What is in the windows when a mode is asked for is done first: each load of a chain of misses,
// all of which have entered, is sent, and takes its time.
TEST_P(Timing, WindowsAreEmptyWhenAModeChanges) {
  constexpr unsigned kLoads = 16;
  TimingOptions options;
  options.configuration = machine_for(protocol(), 2, {"hart.model=\"window\"", "core.window=196"});
  Timed timed(protocol().name, 2, options);
  Words words(kLoads, load(11, 11, 0));
  words.insert(words.end(), {addi(6, 6, 1), branch(kEqual, 0, 0, -4)});
  timed.place(kCode, program_of(words));
  for (unsigned hart = 0; hart < 2; ++hart) {
    const std::uint64_t at = kData + hart * 0x1000;
    for (unsigned line = 0; line < kLoads; ++line)
      EXPECT_TRUE(timed.machine->memory().write_value(at + line * 64, at + (line + 1) * 64));
    timed.start(hart, kCode);
    timed.machine->hart(hart).state().x[11] = at;
  }
  EXPECT_EQ(timed.run(300), CoresEnd::limit);
  for (unsigned hart = 0; hart < 2; ++hart)
    ASSERT_EQ(timed.machine->hart(hart).state().x[11], kData + hart * 0x1000 + kLoads * 64);
  const std::uint64_t before = timed.cores->result().statistics.core.fills;
  EXPECT_LT(before, kLoads);
  timed.cores->change_mode(Mode::functional);
  EXPECT_EQ(timed.run(10), CoresEnd::limit);
  EXPECT_EQ(timed.cores->mode(), Mode::functional);
  EXPECT_GE(timed.cores->result().statistics.core.fills, 2 * kLoads);
  for (const HartCycles &cycles : timed.cores->harts())
    EXPECT_GT(cycles.loads, kLoads * 20);
}

// Where its cycles went: all of them, on something.
TEST_P(Windows, CyclesAddUp) {
  TimingOptions options;
  options.timeline = true;
  options.configuration = machine_for(protocol(), 2, {"hart.model=\"window\""});
  Timed timed(protocol().name, 2, options);
  timed.place(kCode,
              program_of({store(9, 20, 0), load(7, 20, 512), addi(6, 0, 1), atomic(kAdd, 5, 11, 6),
                          addi(9, 9, -1), branch(kNotEqual, 9, 0, -20), kWfi, kJumpBack}));
  for (unsigned hart = 0; hart < 2; ++hart) {
    timed.start(hart, kCode);
    timed.machine->hart(hart).state().x[9] = 100;
    timed.machine->hart(hart).state().x[20] = kData + 64 + hart * 8;
  }
  EXPECT_EQ(timed.run(), CoresEnd::deadlock);
  for (unsigned hart = 0; hart < 2; ++hart) {
    Timeline::Cycles sum{};
    for (const Timeline::Cycles &cycles : timed.cores->timeline()->of(hart))
      for (std::size_t kind = 0; kind < kSpentKinds; ++kind)
        sum[kind] += cycles[kind];
    const HartCycles &cycles = timed.cores->harts()[hart];
    const auto of = [&](Spent what) { return sum[static_cast<std::size_t>(what)]; };
    EXPECT_EQ(cycles.instructions, 100U * 6 + 1);
    EXPECT_EQ(of(Spent::system), cycles.busy);
    EXPECT_EQ(of(Spent::fetch), cycles.fetches);
    EXPECT_EQ(of(Spent::load), cycles.loads);
    EXPECT_EQ(of(Spent::store), cycles.stores);
    EXPECT_EQ(of(Spent::atomic), cycles.atomics);
    std::uint64_t all = 0;
    for (const std::uint64_t each : sum)
      all += each;
    EXPECT_EQ(all, timed.machine->cores().schedule().round);
  }
}

// A region counts what lies between its hints, each time; and time stands still outside of timing.
TEST_P(Timing, RegionsAndModesByHints) {
  TimingOptions options;
  options.mode = Mode::functional;
  options.configuration = machine_for(protocol(), 1);
  Timed timed(protocol().name, 1, options);
  Words words;
  for (int i = 0; i < 10; ++i)
    words.push_back(addi(5, 5, 1)); // functional
  words.push_back(hint_of(hint::kTiming));
  words.push_back(addi(9, 0, 3));
  words.push_back(hint_of(hint::kBegin + 7));
  words.push_back(load(5, 11, 0));
  words.push_back(addi(5, 5, 1));
  words.push_back(hint_of(hint::kEnd + 7));
  words.push_back(addi(9, 9, -1));
  words.push_back(branch(kNotEqual, 9, 0, -20));
  words.push_back(hint_of(hint::kFunctional));
  for (int i = 0; i < 10; ++i)
    words.push_back(addi(6, 6, 1)); // functional again
  words.push_back(kWfi);
  words.push_back(kJumpBack);
  timed.place(kCode, program_of(words));
  timed.start(0, kCode);
  EXPECT_EQ(timed.run(), CoresEnd::deadlock);
  EXPECT_EQ(timed.cores->mode(), Mode::functional);
  EXPECT_EQ(timed.machine->hart().state().x[6], 10U);
  EXPECT_EQ(timed.machine->hart().state().instret, 10U + 1 + 1 + 3 * 6 + 1 + 10 + 1);
  ASSERT_EQ(timed.cores->regions().count(7), 1U);
  const RegionCounts &region = timed.cores->regions().at(7);
  EXPECT_EQ(region.entered, 3U);
  const auto count = [&](const std::string &name) {
    for (const auto &[each, value] : region.counts)
      if (each == name)
        return value;
    ADD_FAILURE() << name;
    return std::uint64_t{0};
  };
  EXPECT_EQ(count("timed_instructions"), 3U * 2);
  EXPECT_EQ(count("misses"), 1U + 0U);
}

// The first page of a second thread's code is written by the first: what is stored is what runs.
TEST_P(Timing, StoresToCodeAreRunByOtherHarts) {
  TimingOptions options;
  options.configuration = machine_for(protocol(), 2);
  Timed timed(protocol().name, 2, options);
  constexpr std::uint64_t kOther = kCode + 0x2000;
  // Hart 1 waits for a flag, then runs a word that hart 0 has written over.
  timed.place(kOther, program_of({load(5, 11, 0), branch(kEqual, 5, 0, -4), 0x0000100f, // fence.i
                                  addi(6, 6, 1), kWfi, kJumpBack}));
  timed.place(kCode, program_of({store(12, 13, 12, 2), store(14, 11, 0), kWfi, kJumpBack}));
  timed.start(1, kOther);
  EXPECT_EQ(timed.run(2'000), CoresEnd::limit);
  timed.start(0, kCode);
  HartState &state = timed.machine->hart(0).state();
  state.x[12] = addi(6, 6, 77);
  state.x[13] = kOther;
  state.x[14] = 1;
  EXPECT_EQ(timed.run(), CoresEnd::deadlock);
  EXPECT_EQ(timed.machine->hart(1).state().x[6], 77U);
}

TEST(TimingErrors, AreTheUsers) {
  const auto message = [](const char *protocol, const char *machine, unsigned harts) {
    auto made = std::move(BareMachine::create({.harts = harts, .memory_size = 1U << 20})).value();
    TimingOptions options;
    options.configuration = *load_configuration(machine, {});
    const auto cores = TimedCores::make(protocol, options, made->harts(), made->clock(), nullptr);
    return cores ? std::string() : cores.error().message;
  };
  EXPECT_THAT(message("dragon", "flask", 16), ::testing::HasSubstr("there is no protocol"));
  EXPECT_THAT(message("mesi-snoop", "flask", 16), ::testing::HasSubstr("needs a bus"));
  EXPECT_THAT(message("flask", "flask", 4), ::testing::HasSubstr("16 cores, and there are 4"));
  EXPECT_EQ(message("flask", "flask", 16), "");
}

} // namespace
} // namespace tandem::machine
