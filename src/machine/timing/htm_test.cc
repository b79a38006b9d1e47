// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the instructions of transactions do, one sentence a test: without time and on every
// protocol. docs/machine/metatm.md lists which test is about which sentence of the paper.
#include "machine/isa/csr.h"
#include "machine/timing/htm_machine.h"

#include <gmock/gmock.h>

namespace tandem::machine {
namespace {

using namespace testing;            // NOLINT: the test's own words
using namespace testing::assembler; // NOLINT

constexpr std::uint64_t minus(std::uint64_t value) { return ~value + 1; }

class Transactions : public ::testing::TestWithParam<std::string> {
protected:
  HtmMachine make(unsigned harts, const HtmOptions &htm = {}) { return {GetParam(), harts, htm}; }
};
INSTANTIATE_TEST_SUITE_P(Machine, Transactions, ::testing::ValuesIn(ways()),
                         [](const auto &info) { return name_of_way(info.param); });

// A handler that goes on behind an illegal instruction and counts in x31.
Words skipping_handler() {
  return {addi(31, 31, 1), csrr(30, csr::sepc), addi(30, 30, 4), csrw(csr::sepc, 30), kSret};
}

TEST_P(Transactions, BeginAnswersZeroAndEndCommits) {
  HtmMachine m = make(1);
  m.run_all({xtest(5), xbegin(6), xtest(7), li(8, 42), store(8, 11, 0), kXend, xtest(9)});
  EXPECT_EQ(m.x(5), 0U);
  EXPECT_EQ(m.x(6), 0U);
  EXPECT_EQ(m.x(7), 1U);
  EXPECT_EQ(m.x(9), 0U);
  EXPECT_EQ(m.word(kData), 42U);
  EXPECT_EQ(m.counters().transactions, 1U);
  EXPECT_EQ(m.counters().commits, 1U);
  EXPECT_EQ(m.counters().restarts, 0U);
  EXPECT_FALSE(m.htm().any_live());
  EXPECT_FALSE(m.htm().any_marks());
}

TEST_P(Transactions, NestingIsFlat) {
  HtmMachine m = make(1);
  // The inner end commits nothing: the abort behind it undoes the inner store as well.
  m.run_all({xbegin(5), branch(kNotEqual, 5, 0, 36), xbegin(6), li(8, 7), store(8, 11, 0), xtest(7),
             kXend, xtest(9), li(12, 16), xabort(12), kXend});
  EXPECT_EQ(m.word(kData), 0U);
  EXPECT_EQ(m.x(5), 1U << 8 | 16U);
  EXPECT_EQ(m.counters().transactions, 1U);
  EXPECT_EQ(m.counters().commits, 1U); // of the second attempt, which goes straight to the end
}

// Who says where it begins is counted there, at every attempt; a nested begin says nothing.
TEST_P(Transactions, CountsAreOfThePlaceThatTheBeginSays) {
  HtmMachine m = make(1);
  m.run_all({li(7, 0x123), li(8, 0x456), xbegin(5, 7), branch(kNotEqual, 5, 0, 16), xbegin(6, 8),
             li(12, 16), xabort(12), kXend, xbegin(5), kXend});
  const auto &sites = m.counters().sites;
  ASSERT_EQ(sites.size(), 2U);
  ASSERT_TRUE(sites.contains(0x123));
  EXPECT_EQ(sites.at(0x123).transactions, 1U);
  EXPECT_EQ(sites.at(0x123).restarts, 1U);
  EXPECT_EQ(sites.at(0x123).commits, 1U);
  EXPECT_EQ(m.counters().commits, 2U);
}

TEST_P(Transactions, DepthCountsNestedBegins) {
  HtmMachine m = make(1);
  m.run_all({xbegin(5), xbegin(6), xbegin(7), xtest(8), kXend, xtest(9), kXend, kXend, xtest(12)});
  EXPECT_EQ(m.x(8), 3U);
  EXPECT_EQ(m.x(9), 2U);
  EXPECT_EQ(m.x(12), 0U);
  EXPECT_EQ(m.x(6) | m.x(7), 0U);
}

// A second attempt finds the registers and the memory of the begin.
TEST_P(Transactions, AbortRestoresRegistersAndMemory) {
  HtmMachine m = make(1);
  m.put(kData, 5);
  m.put(kData + 8, 0x3ff0'0000'0000'0000);    // 1.0
  constexpr std::uint32_t kFld = 0x0085b087;  // fld f1, 8(a1)
  constexpr std::uint32_t kFadd = 0x0210f0d3; // fadd.d f1, f1, f1
  constexpr std::uint32_t kFsd = 0x0015b827;  // fsd f1, 16(a1)
  m.run_all({kFld, li(20, 3), xbegin(5), branch(kNotEqual, 5, 0, 36), li(20, 4), addi(2, 2, 16),
             kFadd, load(6, 11, 0), addi(6, 6, 1), store(6, 11, 0), li(12, 77), xabort(12), kXend,
             kFsd});
  EXPECT_EQ(m.x(5), 1U << 8 | 77U);
  EXPECT_EQ(m.x(20), 3U);
  EXPECT_EQ(m.x(6), 0U);
  EXPECT_EQ(m.x(2), kStack + 0x1'0000 - 0x100);
  EXPECT_EQ(m.word(kData), 5U);
  EXPECT_EQ(m.word(kData + 16), 0x3ff0'0000'0000'0000U);
  EXPECT_EQ(m.counters().restarts, 1U);
  EXPECT_EQ(m.counters().unique_restarts, 1U);
}

// SIE off inside; behind the abort it is on again, as at the begin.
void change_status(HtmMachine &m) {
  m.run_all({csrsi(csr::sstatus, 2), xbegin(5), branch(kNotEqual, 5, 0, 16), csrci(csr::sstatus, 2),
             li(12, 16), xabort(12), csrr(6, csr::sstatus), kXend});
  EXPECT_EQ(m.x(5), 1U << 8 | 16U);
}

TEST_P(Transactions, AbortRestoresStatus) {
  HtmMachine m = make(1);
  change_status(m);
  EXPECT_EQ(m.x(6) & 2, 2U);
}

TEST_P(Transactions, FindAStatusThatIsNotRestored) {
  HtmMachine m = make(1);
  m.htm().make(TransactionalMemory::Mistake::keep_status);
  change_status(m);
  EXPECT_EQ(m.x(6) & 2, 0U);
}

TEST_P(Transactions, TheLimitEndsRestarts) {
  HtmMachine m = make(1);
  m.run_all({li(5, 3), csrw(csr::stxlimit, 5), li(12, 16), xbegin(5), branch(kLess, 5, 0, 12),
             store(12, 11, 0), xabort(12), xtest(7)});
  EXPECT_EQ(m.x(5), minus(6));
  EXPECT_EQ(m.x(7), 0U);
  EXPECT_EQ(m.word(kData), 0U);
  EXPECT_EQ(m.counters().restarts, 3U);
  EXPECT_EQ(m.counters().fallbacks, 1U);
}

// What a transaction cannot do ends it before it happens; xbegin says why and nothing runs.
TEST_P(Transactions, RefusedInstructionsAnswerBelowZero) {
  const struct {
    std::uint32_t word;
    std::uint64_t cause;
  } rows[] = {
      {store(0, 13, 0), 3},
      {load(14, 13, 0, 0), 3},
      {kEcall, 4},
      {kWfi, 4},
      {csrw(csr::sscratch, 0), 5},
      {csrw(csr::satp, 0), 5},
      {csrw(csr::stxh, 0), 5},
  };
  for (const auto &[word, cause] : rows) {
    HtmMachine m = make(1);
    constexpr std::uint32_t kConsole = 0x100006b7; // lui x13, 0x10000
    m.run_all({kConsole, li(20, 1), xbegin(5), branch(kLess, 5, 0, 16), li(20, 2), store(20, 11, 0),
               word, xtest(7), li(21, 1)});
    EXPECT_EQ(m.x(5), minus(cause)) << word;
    EXPECT_EQ(m.x(20), 1U) << word;
    EXPECT_EQ(m.x(7), 0U) << word;
    EXPECT_EQ(m.x(21), 1U) << word;
    EXPECT_EQ(m.word(kData), 0U) << word;
    EXPECT_EQ(m.machine->output(), "") << word;
    EXPECT_FALSE(m.htm().any_live()) << word;
  }
}

// On the paper's machine these are illegal, with a word that names the rule.
TEST_P(Transactions, RefusedInstructionsTrapWhereAsked) {
  for (const auto &[word, rule] :
       {std::pair(store(0, 13, 0), "an access to a device"), std::pair(kEcall, "ecall or wfi"),
        std::pair(csrw(csr::sscratch, 0), "a control register")}) {
    HtmMachine m = make(1);
    m.place(kHandler, {csrr(29, csr::stxh), csrr(28, csr::scause), csrr(27, csr::stval),
                       csrr(30, csr::sepc), addi(30, 30, 4), csrw(csr::sepc, 30), kSret});
    constexpr std::uint32_t kConsole = 0x100006b7;
    m.run_all(
        {kConsole, li(5, 2), csrw(csr::stxctl, 5), xbegin(5), li(20, 2), word, xtest(7), kXend});
    EXPECT_EQ(m.x(28), 2U);
    EXPECT_EQ(m.x(27), word);
    EXPECT_NE(m.x(29), 0U);
    EXPECT_EQ(m.x(7), 1U); // it was suspended, and went on
    ASSERT_EQ(m.rules.size(), 1U);
    EXPECT_THAT(m.rules[0], ::testing::HasSubstr(rule));
  }
}

TEST_P(Transactions, MisuseIsIllegalAndSaysWhich) {
  const struct {
    Words words;
    const char *rule;
  } rows[] = {
      {{kXend}, "xend outside"},
      {{li(5, 99), xpop(5)}, "xpop of a handle"},
      {{li(5, 99), xdrop(5)}, "xdrop of a handle"},
      {{xbegin(6), xpush(5), xbegin(6), xpop(5), kXend, xpop(5), kXend}, "xpop while"},
      {{xbegin(6), csrr(6, csr::sstatus), kSret, kXend}, "sret inside"},
  };
  for (const auto &[words, rule] : rows) {
    HtmMachine m = make(1);
    m.place(kHandler, skipping_handler());
    m.run_all(words);
    EXPECT_EQ(m.x(31), 1U) << rule;
    ASSERT_EQ(m.rules.size(), 1U) << rule;
    EXPECT_THAT(m.rules[0], ::testing::HasSubstr(rule));
    EXPECT_FALSE(m.htm().any_live()) << rule;
  }
}

TEST_P(Transactions, AnAnswerThatNobodyCouldReadIsIllegal) {
  HtmMachine m = make(1);
  m.place(kHandler, skipping_handler());
  m.run_all({xbegin(0)});
  EXPECT_EQ(m.x(31), 1U);
}

TEST_P(Transactions, AbortOutsideDoesNothing) {
  HtmMachine m = make(1);
  m.run_all({li(12, 16), xabort(12), li(5, 0), xpop(5), xdrop(5), xpush(6), li(20, 9)});
  EXPECT_EQ(m.x(20), 9U);
  EXPECT_EQ(m.x(6), 0U);
}

// Between xpush and xpop nothing is transactional, and a transaction may be begun that has nothing
// to do with the suspended one.
TEST_P(Transactions, SuspendedTransactionsAreIndependent) {
  HtmMachine m = make(1);
  m.run_all({xbegin(5), branch(kNotEqual, 5, 0, 68), li(8, 1), store(8, 11, 0), xpush(6), xtest(7),
             li(8, 2), store(8, 11, 128), xbegin(9), li(8, 3), store(8, 11, 192), kXend, xpop(6),
             xtest(12), li(8, 4), store(8, 11, 256), li(12, 16), xabort(12), kXend});
  EXPECT_EQ(m.x(5), 1U << 8 | 16U);
  EXPECT_EQ(m.word(kData), 0U);
  EXPECT_EQ(m.word(kData + 128), 2U);
  EXPECT_EQ(m.word(kData + 192), 3U);
  EXPECT_EQ(m.word(kData + 256), 0U);
  EXPECT_EQ(m.counters().transactions, 2U);
  EXPECT_EQ(m.counters().commits, 2U);
}

TEST_P(Transactions, SeveralMayBeSuspended) {
  HtmMachine m = make(1);
  m.run_all({xbegin(5), li(8, 1), store(8, 11, 0), xpush(5), xbegin(6), li(8, 2), store(8, 11, 64),
             xpush(6), xbegin(7), li(8, 3), store(8, 11, 128), kXend, xpop(6), kXend, xpop(5),
             kXend});
  EXPECT_EQ(m.word(kData), 1U);
  EXPECT_EQ(m.word(kData + 64), 2U);
  EXPECT_EQ(m.word(kData + 128), 3U);
  EXPECT_EQ(m.counters().restarts, 0U);
}

TEST_P(Transactions, DropForgets) {
  HtmMachine m = make(1);
  m.run_all({xbegin(5), li(8, 1), store(8, 11, 0), xpush(6), xdrop(6), li(20, 9)});
  EXPECT_EQ(m.word(kData), 0U);
  EXPECT_EQ(m.x(20), 9U);
  EXPECT_FALSE(m.htm().any_live());
}

// Of one hart the newest wins, under every policy: by a store outside of transactions and by a
// transaction.
// By a store in a transaction, or outside.
void store_beside_the_suspended(const HtmMachine &m, bool inside) {
  const std::uint32_t begin = inside ? xbegin(9) : kNothing;
  const std::uint32_t end = inside ? kXend : kNothing;
  // A begin that answers below 0 leaves its store out.
  m.run_all({li(12, 2), csrw(csr::stxlimit, 12), li(9, 0), xbegin(5), branch(kNotEqual, 5, 0, 40),
             li(8, 1), store(8, 11, 0), xpush(6), begin, branch(kLess, 9, 0, 16), li(8, 2),
             store(8, 11, 0), end, xpop(6), kXend});
}

TEST_P(Transactions, TheNewestOfAHartWins) {
  for (unsigned policy = 0; policy < 7; ++policy)
    for (const bool inside : {false, true}) {
      const HtmMachine m(GetParam(), 1, {.policy = contention::Policy(policy)});
      store_beside_the_suspended(m, inside);
      EXPECT_EQ(m.x(5), 1U << 8 | 1U) << policy;
      EXPECT_EQ(m.word(kData), 2U) << policy;
      EXPECT_EQ(m.counters().by_newer, 1U) << policy;
    }
}

// The older one is the suspended one: by age alone it would win.
TEST_P(Transactions, FindASuspendedOneThatWinsAgainstItsHandler) {
  const HtmMachine m(GetParam(), 1, {.policy = contention::Policy::timestamp});
  m.htm().make(TransactionalMemory::Mistake::suspended_wins);
  store_beside_the_suspended(m, true);
  EXPECT_EQ(m.x(5), 0U);
  EXPECT_EQ(m.word(kData), 1U);
  EXPECT_EQ(m.counters().by_newer, 0U);
}

// A trap suspends; the handler is outside of every transaction, and sret resumes what stxh names.
TEST_P(Transactions, TrapsSuspendAndSretResumes) {
  HtmMachine m = make(1);
  m.place(kHandler, {csrr(29, csr::stxh), xtest(28), store(29, 11, 128), csrr(30, csr::sepc),
                     addi(30, 30, 4), csrw(csr::sepc, 30), kSret});
  m.run_all({xbegin(5), li(8, 1), store(8, 11, 0), kEbreak, xtest(7), csrr(9, csr::stxh), kXend});
  EXPECT_EQ(m.x(28), 0U);
  EXPECT_NE(m.word(kData + 128), 0U);
  EXPECT_EQ(m.x(7), 1U);
  EXPECT_EQ(m.x(9), 0U); // sret has used it up
  EXPECT_EQ(m.x(5), 0U);
  EXPECT_EQ(m.word(kData), 1U);
  EXPECT_EQ(m.counters().interrupted, 1U);
  EXPECT_EQ(m.counters().restarts, 0U);
}

// One that has lost in the meantime restarts where sret would have resumed it.
TEST_P(Transactions, ALoserRestartsWhenItIsResumed) {
  HtmMachine m = make(1);
  m.place(kHandler, {li(30, 50), store(30, 11, 0), csrr(30, csr::sepc), addi(30, 30, 4),
                     csrw(csr::sepc, 30), kSret});
  m.run_all({xbegin(5), branch(kNotEqual, 5, 0, 16), li(8, 1), store(8, 11, 0), kEbreak,
             load(9, 11, 0), kXend});
  EXPECT_EQ(m.x(5), 1U << 8 | 1U);
  EXPECT_EQ(m.x(8), 0U);
  EXPECT_EQ(m.x(9), 50U);
  EXPECT_EQ(m.counters().by_newer, 1U);
}

// Frames of handlers begin below what was live at the begin of the transaction.
TEST_P(Transactions, TheStackOfTheBeginIsGuarded) {
  HtmMachine m = make(1);
  m.place(kHandler,
          {csrr(29, csr::stxsp), csrr(30, csr::sepc), addi(30, 30, 4), csrw(csr::sepc, 30), kSret});
  m.run_all(
      {addi(2, 2, -64), addi(20, 2, 0), xbegin(5), addi(2, 2, 48), addi(21, 2, 0), kEbreak, kXend});
  EXPECT_EQ(m.x(29), m.x(20));
  EXPECT_EQ(m.x(2), m.x(21)); // and the stack pointer is what it was
  EXPECT_EQ(m.counters().live_stack_overwrites, 1U);
  HtmMachine other = make(1);
  other.place(kHandler, {csrr(29, csr::stxsp), csrr(30, csr::sepc), addi(30, 30, 4),
                         csrw(csr::sepc, 30), kSret});
  other.run_all({xbegin(5), addi(2, 2, -48), addi(21, 2, 0), kEbreak, kXend});
  EXPECT_EQ(other.x(29), other.x(21));
  EXPECT_EQ(other.counters().live_stack_overwrites, 0U);
}

// A nested trap overwrites stxh: a handler that saves it resumes its transaction, and one that does
// not leaves it suspended for ever.
TEST_P(Transactions, HandlersSaveTheirHandle) {
  for (const bool saves : {true, false}) {
    HtmMachine m = make(1);
    // The outer handler takes an ebreak itself. Depth in x26: the inner one only skips.
    const Words handler = {branch(kNotEqual, 26, 0, 48),
                           li(26, 1),
                           csrr(27, csr::stxh),
                           csrr(25, csr::sepc),
                           csrr(24, csr::sstatus),
                           kEbreak,
                           csrw(csr::sstatus, 24),
                           addi(25, 25, 4),
                           csrw(csr::sepc, 25),
                           saves ? csrw(csr::stxh, 27) : kNothing,
                           li(26, 0),
                           kSret,
                           csrr(30, csr::sepc),
                           addi(30, 30, 4),
                           csrw(csr::sepc, 30),
                           kSret};
    m.place(kHandler, handler);
    m.run_all({xbegin(5), li(8, 1), store(8, 11, 0), kEbreak, xtest(7), kXend});
    EXPECT_EQ(m.x(7), saves ? 1U : 0U);
    EXPECT_EQ(m.htm().any_live(), !saves);
    EXPECT_EQ(m.rules.size(), saves ? 0U : 1U);
  }
}

// Early release: lines of dead frames leave the sets when the stack pointer rises, but never what
// was above it at the begin.
void release_stack(const HtmMachine &m, bool asks = true) {
  const std::uint32_t ask = asks ? csrw(csr::stxctl, 5) : addi(0, 0, 0);
  m.place(kHandler, {store(0, 2, -96), store(0, 2, 64), csrr(30, csr::sepc), addi(30, 30, 4),
                     csrw(csr::sepc, 30), kSret});
  // Align the stack to 64; write below it and above it in the transaction, return from both.
  m.run_all({li(5, 1),          ask,
             li(5, -64),        0x00517133 /* and sp, sp, x5 */,
             addi(20, 2, 0),    li(8, 9),
             store(8, 2, 128),  store(8, 2, -128),
             xbegin(5),         branch(kNotEqual, 5, 0, 40),
             addi(2, 2, -256),  store(8, 2, 64),
             store(8, 2, 128),  addi(2, 2, 256),
             li(9, 3),          store(9, 2, 128),
             addi(2, 2, 256),   li(12, 16),
             xabort(12),        kXend,
             load(21, 20, 128), load(22, 20, -128)});
}

TEST_P(Transactions, EarlyReleaseStopsAtTheStackOfTheBegin) {
  const HtmMachine m(GetParam(), 1);
  release_stack(m);
  EXPECT_EQ(m.x(5), 1U << 8 | 16U);
  EXPECT_EQ(m.x(21), 9U); // above: undone
  EXPECT_EQ(m.counters().released_bytes, 16U);
}

// The state of a hart from elsewhere (a saved machine, --tx-release) does the same.
TEST_P(Transactions, EarlyReleaseNeedsNoWriteOfTheGuest) {
  const HtmMachine off(GetParam(), 1);
  release_stack(off, false);
  EXPECT_EQ(off.counters().released_bytes, 0U);
  const HtmMachine on(GetParam(), 1);
  on.hart().state().stxctl = stxctl::kEarlyRelease;
  on.hart().changed();
  release_stack(on, false);
  EXPECT_EQ(on.counters().released_bytes, 16U);
}

TEST_P(Transactions, FindEarlyReleaseAboveTheBegin) {
  const HtmMachine m(GetParam(), 1);
  m.htm().make(TransactionalMemory::Mistake::release_above);
  release_stack(m);
  EXPECT_EQ(m.x(5), 1U << 8 | 16U);
  EXPECT_NE(m.x(21), 9U);
}

// A trap from U ends what U runs; it goes on behind its xbegin, which has answered -8.
TEST_P(Transactions, TrapsFromUserModeEndTransactions) {
  HtmMachine m = make(1);
  m.place(kHandler,
          {csrr(29, csr::stxh), csrr(28, csr::sepc), csrr(27, csr::scause), kWfi, jump(0, -4)});
  m.place(kCode, {li(20, 1), xbegin(5), li(20, 2), store(20, 11, 0), kEbreak});
  m.start(0, kCode);
  m.hart().state().privilege = Privilege::user;
  m.hart().changed();
  m.run();
  EXPECT_EQ(m.x(27), 3U);
  EXPECT_EQ(m.x(5), minus(8));
  EXPECT_EQ(m.x(28), kCode + 8);
  EXPECT_EQ(m.x(20), 1U);
  EXPECT_EQ(m.x(29), 0U);
  EXPECT_EQ(m.word(kData), 0U);
  EXPECT_FALSE(m.htm().any_live());
}

TEST_P(Transactions, UserModeMayNotNameWhatItDidNotBegin) {
  HtmMachine m = make(1);
  m.place(kHandler, {csrr(27, csr::scause), kWfi, jump(0, -4)});
  m.place(kCode, {xbegin(5), li(8, 1), store(8, 11, 0), xpush(6), li(9, 0x100),
                  i_type(0x73 | 3U << 12, 0, 9, csr::sstatus), csrw(csr::sepc, 13), kSret});
  m.place(kCode + 0x100, {xpop(6), kEbreak});
  m.start(0, kCode);
  m.hart().state().x[13] = kCode + 0x100;
  m.run();
  EXPECT_EQ(m.x(27), 2U);
  ASSERT_EQ(m.rules.size(), 1U);
  EXPECT_THAT(m.rules[0], ::testing::HasSubstr("xpop of a handle"));
}

// Strong atomicity: an access outside of transactions always wins.
TEST_P(Transactions, AccessesOutsideAlwaysWin) {
  for (unsigned policy = 0; policy < 7; ++policy)
    for (const bool writes : {true, false}) {
      HtmMachine m = make(2, {.policy = contention::Policy(policy)});
      // Hart 0 writes, tells so in another line, and waits for an answer before it commits; hart 1
      // touches what it has written, then answers.
      const Words words = {branch(kNotEqual, 10, 0, 48), xbegin(5), branch(kNotEqual, 5, 0, 32),
                           li(8, 1), store(8, 11, 0), xpush(6), store(8, 11, 128), xpop(6),
                           jump(0, 0), // until it is aborted
                           kNothing, kXend, kWfi,
                           // hart 1
                           load(9, 11, 128), branch(kEqual, 9, 0, -4),
                           writes ? store(9, 11, 4, 2) : load(20, 11, 0), kWfi};
      EXPECT_EQ(m.run_all(words, 200'000), CoresEnd::deadlock) << policy;
      EXPECT_EQ(m.x(5), 1U << 8 | 1U) << policy;
      EXPECT_EQ(m.x(20, 1), 0U) << policy;
      EXPECT_EQ(m.counters().by_accesses, 1U) << policy;
    }
}

// Bytes of one line conflict only where the whole line counts.
TEST_P(Transactions, GranularityIsOfBytesOrLines) {
  for (const Granularity granularity : {Granularity::byte, Granularity::line}) {
    HtmMachine m = make(4, {.granularity = granularity});
    // Each hart counts in a word of its own in the same line.
    const Words words = {add(12, 10, 10), add(12, 12, 12), add(12, 12, 12),
                         add(12, 12, 11), li(9, 50),       xbegin(5),
                         load(6, 12, 0),  addi(6, 6, 1),   store(6, 12, 0),
                         kXend,           addi(9, 9, -1),  branch(kNotEqual, 9, 0, -24)};
    EXPECT_EQ(m.run_all(words), CoresEnd::deadlock);
    for (unsigned index = 0; index < 4; ++index)
      EXPECT_EQ(m.word(kData + 8 * index), 50U);
    EXPECT_EQ(m.counters().commits, 200U);
    if (granularity == Granularity::byte) {
      EXPECT_EQ(m.counters().restarts, 0U);
    } else if (GetParam() != "functional") { // turns of 100 instructions rarely meet
      EXPECT_GT(m.counters().restarts, 0U);
    }
  }
}

// In cycles of one hart without others beside it.
TEST_P(Transactions, CommitsAndAbortsCostWhatTheMachineSays) {
  const auto cycles = [&](std::uint32_t commit, std::uint32_t abort) {
    HtmMachine m = make(
        1, {.backoff = contention::Backoff::none, .commit_cycles = commit, .abort_cycles = abort});
    // Ten commits, each after an abort; then the clock.
    m.run_all({li(9, 10), li(12, 16), xbegin(5), branch(kNotEqual, 5, 0, 8), xabort(12), kXend,
               addi(9, 9, -1), branch(kNotEqual, 9, 0, -20), csrr(20, csr::cycle)});
    EXPECT_EQ(m.counters().commits, 10U);
    EXPECT_EQ(m.counters().restarts, 10U);
    return m.x(20);
  };
  const std::uint64_t base = cycles(0, 0);
  EXPECT_EQ(cycles(100, 0), base + 1000);
  EXPECT_EQ(cycles(0, 1000), base + 10'000);
  EXPECT_EQ(cycles(10'000, 100), base + 101'000);
}

// More lines of one set than the private caches of `small` have: one set-up an attempt, and the
// marks stay complete.
TEST_P(Transactions, LinesThatLeaveTheCachesCost) {
  if (GetParam() == "functional")
    return; // it has no caches
  const auto run = [&](std::uint32_t cost, std::uint64_t &overflows) {
    HtmMachine m = make(1, {.overflow_cycles = cost});
    // 64 lines, 4 KiB apart, read and written; then the first ones again.
    m.run_all({addi(6, 11, 0), 0x00001737 /* lui x14, 1 */, li(9, 64), xbegin(5), load(7, 6, 0),
               addi(7, 7, 1), store(7, 6, 0), add(6, 6, 14), addi(9, 9, -1),
               branch(kNotEqual, 9, 0, -20), load(8, 11, 0), kXend, csrr(20, csr::cycle)});
    EXPECT_EQ(m.x(5), 0U);
    EXPECT_EQ(m.x(8), 1U);
    EXPECT_EQ(m.word(kData + 63 * 4096), 1U);
    overflows = m.counters().overflows;
    return m.x(20);
  };
  std::uint64_t overflows = 0;
  const std::uint64_t without = run(0, overflows);
  EXPECT_EQ(overflows, 1U);
  EXPECT_EQ(run(500, overflows), without + 500);
}

// A mark that is lost with its line is a write of another hart that goes unnoticed.
TEST_P(Transactions, MarksOutliveTheirLines) {
  using Mistake = TransactionalMemory::Mistake;
  if (GetParam() == "functional")
    return; // it has no caches
  for (const Mistake mistake : {Mistake::none, Mistake::lose_marks}) {
    HtmMachine m = make(2);
    m.htm().make(mistake);
    // Hart 0 reads a word, then 64 lines, 4 KiB apart; it says so in a line of its own, waits for
    // the answer of hart 1, which has written the word, and adds to what it read.
    const Words words = {branch(kNotEqual, 10, 0, 76), addi(6, 11, 0), 0x00001737 /* lui x14, 1 */,
                         li(9, 64), xbegin(5), load(8, 11, 0), branch(kNotEqual, 5, 0, 40),
                         load(7, 6, 0), add(6, 6, 14), addi(9, 9, -1), branch(kNotEqual, 9, 0, -12),
                         xpush(13), store(11, 11, 128), load(7, 11, 192), branch(kEqual, 7, 0, -4),
                         xpop(13), addi(8, 8, 1), store(8, 11, 0), kXend,
                         // hart 1
                         branch(kEqual, 10, 0, 28), load(9, 11, 128), branch(kEqual, 9, 0, -4),
                         li(8, 10), store(8, 11, 0), store(8, 11, 192), kNothing};
    EXPECT_EQ(m.run_all(words), CoresEnd::deadlock);
    EXPECT_GT(m.counters().overflows, 0U);
    EXPECT_EQ(m.word(kData), mistake == Mistake::none ? 11U : 1U);
  }
}

// What devices and kernels do to memory is outside of every transaction.
TEST_P(Transactions, MemoryOfDevicesIsOutside) {
  HtmMachine m = make(1);
  m.place(kCode, {xbegin(5), branch(kNotEqual, 5, 0, 20), li(8, 1), store(8, 11, 0),
                  load(9, 11, 64), jump(0, 0), kXend, kWfi, jump(0, -4)});
  m.start(0, kCode);
  m.run(1000);
  EXPECT_TRUE(m.htm().any_marks());
  m.put(kData + 64, 7); // read by the transaction, written by a device
  EXPECT_EQ(m.run(1000), CoresEnd::deadlock);
  EXPECT_EQ(m.x(5), 1U << 8 | 1U);
  EXPECT_EQ(m.word(kData), 0U);
  EXPECT_EQ(m.word(kData + 64), 7U);
}

} // namespace
} // namespace tandem::machine
