// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cores with a window under every protocol: what their instructions cost, to the cycle; that plain
// stores are seen by others' reservations; where their cycles went.
#include "machine/timing/testing/timed.h"

#include <gmock/gmock.h>

namespace tandem::machine {
namespace {

using namespace testing;

// What a program takes between two readings of the clock, in a machine with caches as the paper's.
class Windows : public OnProtocol {
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
INSTANTIATE_TEST_SUITE_P(Machine, Windows, ::testing::ValuesIn(names()), test_name);

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
TEST_P(Windows, AreEmptyWhenAModeChanges) {
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

// A pair of reservation and plain stores of others in between: what is stored on entry, before the
// protocol knows of it, is no less a store. The pair adds 2^32 to a word, the others write its
// lower half.
TEST_P(Windows, StoresBreakReservations) {
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

TEST_P(Windows, RunTheSameWatchedInPartsAndWithCheckedValues) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const bool paged = seed % 4 == 3;
    const Left once = random_run(protocol(), seed, {}, paged, window_of(seed));
    const Left watched = random_run(protocol(), seed, {.timeline = true}, paged, window_of(seed));
    ASSERT_TRUE(same(once, watched)) << "seed " << seed;
    const Left parts = random_run(protocol(), seed, {}, paged, window_of(seed), true);
    ASSERT_TRUE(same(once, parts)) << "seed " << seed;
    const Left checked =
        random_run(protocol(), seed, {.check_values = true}, paged, window_of(seed));
    ASSERT_TRUE(once.harts == checked.harts) << "seed " << seed;
    ASSERT_TRUE(once.memory == checked.memory) << "seed " << seed;
    ASSERT_EQ(once.cycles, checked.cycles) << "seed " << seed;
  }
}

} // namespace
} // namespace tandem::machine
