// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every policy ends, within the bounds of docs/machine/metatm.md: the counter, mutual aborts,
// stalls.
#include "machine/isa/csr.h"
#include "machine/timing/htm_machine.h"

namespace tandem::machine {
namespace {

using namespace testing;            // NOLINT: the test's own words
using namespace testing::assembler; // NOLINT

class Liveness : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Machine, Liveness, ::testing::ValuesIn(ways()),
                         [](const auto &info) { return name_of_way(info.param); });

Words counter(int increments) {
  return {li(9, increments), xbegin(5), load(6, 11, 0), addi(6, 6, 1),
          store(6, 11, 0),   kXend,     addi(9, 9, -1), branch(kNotEqual, 9, 0, -24)};
}

TEST_P(Liveness, EveryPolicyCountsRight) {
  for (unsigned policy = 0; policy < 7; ++policy)
    for (const bool stall : {false, true}) {
      HtmMachine m(GetParam(), 16, {.policy = contention::Policy(policy), .stall = stall});
      EXPECT_EQ(m.run_all(counter(12)), CoresEnd::deadlock)
          << contention::kPolicyNames[policy].first << (stall ? ", stall" : "");
      EXPECT_EQ(m.word(kData), 16U * 12U) << contention::kPolicyNames[policy].first;
      EXPECT_EQ(m.counters().commits, 16U * 12U);
      // docs/machine/metatm.md: increments times an attempt and the longest wait of a winner. Under
      // Polite a transaction wins only after it has lost ten times.
      constexpr Cycle kAttempt = 2000;
      constexpr Cycle kWait = 10 * (10 * 15 + 1);
      const Cycle attempts = contention::Policy(policy) == contention::Policy::polite ? 11 : 1;
      EXPECT_LE(m.machine->clock().now, 16 * 12 * attempts * (kAttempt + kWait))
          << contention::kPolicyNames[policy].first << (stall ? ", stall" : "");
    }
}

// Two harts write the same two lines in opposite orders, without a backoff, and run a loop before
// they commit. Each attempt reads a word more than the one before and loops longer: the loser
// restarts before the winner commits, with the larger transaction.
constexpr unsigned kOpposed = 2;
constexpr unsigned kTurns = 20;

Words opposed_turns() {
  Words words{li(9, kTurns)};
  const auto append = [&](const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  append({xbegin(5), shifted_right(7, 5, 8), shifted_right(12, 5, 3), add(8, 22, 0)});
  append({branch(kEqual, 7, 0, 20), load(6, 8, 0), addi(8, 8, 8), addi(7, 7, -1), jump(0, -16)});
  append({load(6, 20, 0), addi(6, 6, 1), store(6, 20, 0), load(7, 21, 0), addi(7, 7, 1),
          store(7, 21, 0)});
  append(
      {addi(12, 12, 1000), addi(12, 12, -1), branch(kNotEqual, 12, 0, -4), kXend, addi(9, 9, -1)});
  append({branch(kNotEqual, 9, 0, -4 * static_cast<int>(words.size() - 1)), kWfi, jump(0, -4)});
  return words;
}

HtmOptions opposed_under(contention::Policy policy) {
  return {.policy = policy, .backoff = contention::Backoff::none};
}

CoresEnd run_opposed(HtmMachine &m) {
  m.place(kCode, opposed_turns());
  for (unsigned hart = 0; hart < kOpposed; ++hart) {
    m.start(hart, kCode);
    m.hart(hart).state().x[20] = kData + 128 * (hart % 2);
    m.hart(hart).state().x[21] = kData + 128 * (1 - hart % 2);
    m.hart(hart).state().x[22] = kData + 0x1000 * (hart + 1);
    m.hart(hart).changed();
  }
  return m.run(5'000'000);
}

// docs/machine/metatm.md: no transaction kills the oldest, under SizeMatters from its tenth restart
// on.
Cycle bound_of(contention::Policy policy) {
  constexpr Cycle kAttempt = 6000;
  const Cycle attempts =
      policy == contention::Policy::timestamp ? 1 : contention::kSizeMattersRestarts + 1;
  return kOpposed * kTurns * attempts * kAttempt;
}

TEST_P(Liveness, MutualAbortsEnd) {
  for (const auto policy : {contention::Policy::timestamp, contention::Policy::size_matters}) {
    HtmMachine m(GetParam(), kOpposed, opposed_under(policy));
    const auto *name = contention::kPolicyNames[unsigned(policy)].first.data();
    ASSERT_EQ(run_opposed(m), CoresEnd::deadlock) << name;
    EXPECT_EQ(m.word(kData), kOpposed * kTurns) << name;
    EXPECT_EQ(m.word(kData + 128), kOpposed * kTurns) << name;
    if (GetParam() != "functional") // turns of 100 instructions rarely meet
      EXPECT_GT(m.counters().restarts, kOpposed * kTurns / 2) << name;
    EXPECT_LE(m.machine->clock().now, bound_of(policy)) << name;
  }
}

// Without its turn to the oldest SizeMatters goes on for ever.
TEST(Opposed, FindRestartsThatAreForgotten) {
  constexpr auto kPolicy = contention::Policy::size_matters;
  HtmMachine m("mesi-snoop", kOpposed, opposed_under(kPolicy));
  m.htm().make(TransactionalMemory::Mistake::forget_restarts);
  EXPECT_TRUE(run_opposed(m) != CoresEnd::deadlock || m.machine->clock().now > bound_of(kPolicy));
}

// Two that want the same two lines in opposite orders: with every policy the cycle is broken.
TEST_P(Liveness, StallsEndAndCyclesAreFound) {
  for (unsigned policy = 0; policy < 7; ++policy) {
    HtmMachine m(GetParam(), 2, {.policy = contention::Policy(policy), .stall = true});
    const Words words = {
        li(9, 100),        addi(20, 11, 0), addi(21, 11, 128), branch(kEqual, 10, 0, 12),
        addi(20, 11, 128), addi(21, 11, 0), xbegin(5),         load(6, 20, 0),
        addi(6, 6, 1),     store(6, 20, 0), load(7, 21, 0),    addi(7, 7, 1),
        store(7, 21, 0),   kXend,           addi(9, 9, -1),    branch(kNotEqual, 9, 0, -36)};
    EXPECT_EQ(m.run_all(words), CoresEnd::deadlock) << policy;
    EXPECT_EQ(m.word(kData), 200U) << policy;
    EXPECT_EQ(m.word(kData + 128), 200U) << policy;
    if (GetParam() != "functional") { // turns of 100 instructions rarely meet
      EXPECT_GT(m.counters().stalls, 0U) << policy;
      EXPECT_GT(m.counters().waits_in_cycles, 0U) << policy;
    }
  }
}

// One that waits for what is suspended for ever gives up in the end.
TEST_P(Liveness, StallsHaveALimit) {
  HtmMachine m(GetParam(), 2,
               {.policy = contention::Policy::timestamp, .stall = true, .stall_limit = 3000});
  // Hart 0 suspends what has written and goes to sleep; hart 1 gives up after two attempts.
  const Words words = {branch(kNotEqual, 10, 0, 28),
                       xbegin(5),
                       store(11, 11, 0),
                       xpush(6),
                       store(11, 11, 128),
                       kWfi,
                       jump(0, -4),
                       load(9, 11, 128),
                       branch(kEqual, 9, 0, -4),
                       li(12, 2),
                       csrw(csr::stxlimit, 12),
                       xbegin(5),
                       branch(kLess, 5, 0, 12),
                       load(20, 11, 0),
                       kXend};
  EXPECT_EQ(m.run_all(words, 2'000'000), CoresEnd::deadlock);
  EXPECT_EQ(m.x(5, 1), ~std::uint64_t{6} + 1);
  EXPECT_GE(m.counters().stall_cycles, 6000U);
}

} // namespace
} // namespace tandem::machine
