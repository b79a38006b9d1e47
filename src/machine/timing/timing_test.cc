// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harts on every protocol: running ahead changes nothing, checked values change nothing, what
// instructions cost is what the machine says, locks lock, modes and regions.
#include "machine/timing/testing/timed.h"

#include <gmock/gmock.h>
#include <map>

namespace tandem::machine {
namespace {

using namespace testing;

class Timing : public OnProtocol {};
INSTANTIATE_TEST_SUITE_P(Machine, Timing, ::testing::ValuesIn(names()), test_name);

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

// Nor does it where a run ends and the next one goes on.
TEST_P(Timing, RunsInPartsAreTheSame) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    const std::vector<std::string> buffer =
        seed % 2 == 0 ? std::vector<std::string>() : buffer_of(seed);
    const bool paged = seed % 4 == 3;
    const Left whole = random_run(protocol(), seed, {}, paged, buffer);
    EXPECT_TRUE(same(whole, random_run(protocol(), seed, {}, paged, buffer, true)))
        << "seed " << seed;
  }
}

// FNV-1a of all that programs can see of what a run leaves: registers, memory, time.
std::uint64_t hash_of(const Left &left) {
  std::uint64_t hash = 0xcbf2'9ce4'8422'2325;
  const auto add = [&hash](std::uint64_t value, unsigned bytes = 8) {
    for (; bytes > 0; --bytes, value >>= 8)
      hash = (hash ^ (value & 0xff)) * 0x100'0000'01b3;
  };
  for (const HartState &hart : left.harts) {
    add(hart.pc);
    for (const std::uint64_t value : hart.x)
      add(value);
  }
  for (const std::byte byte : left.memory)
    add(std::to_integer<std::uint64_t>(byte), 1);
  add(left.cycles);
  return hash;
}

// On every machine, whatever compiled it: as it was recorded. Who changes what something costs
// records what this prints.
TEST_P(Timing, RunsAreThoseThatWereRecorded) {
  const std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> recorded{
      {"mesi-snoop", {0x8d4f072696656c25, 0xefcf0c08bce8a0e0}},
      {"token-b", {0xc015a5bbdb106d38, 0x906b0b13c33506ab}},
      {"sparse-directory", {0x5760fe36ada443c3, 0xc582ad2d03d58a31}},
      {"mosaic", {0xb6923a3de361aced, 0xa58d3e3394075e6b}},
      {"flask", {0x8b07a2c3d134ff33, 0x68695d5261776a9e}},
      {"flask-plus", {0xd5987b144c3362da, 0xde112dadf8418009}},
  };
  const auto run = [](const std::vector<std::string> &more) {
    return hash_of(random_run(protocol(), 3, {}, true, more));
  };
  const std::uint64_t in_order = run({});
  const std::uint64_t window = run(window_of(2));
  const auto found = recorded.find(GetParam());
  EXPECT_TRUE(found != recorded.end() && found->second == std::pair(in_order, window))
      << fmt::format("{{\"{}\", {{{:#018x}, {:#018x}}}}},", GetParam(), in_order, window);
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
