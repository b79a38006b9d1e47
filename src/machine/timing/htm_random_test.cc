// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random programs with transactions: their histories are serial ones and opaque, running ahead
// changes nothing, aborts, interrupts and refusals change no result; seeded mistakes are found.
#include "machine/isa/csr.h"
#include "machine/timing/htm_machine.h"

#include <random>

namespace tandem::machine {
namespace {

using namespace testing;            // NOLINT: the test's own words
using namespace testing::assembler; // NOLINT

// Registers: 20 to 25 places, 5 to 8 values, 9 turns, 13 the answer of xbegin, 14 a handle, 15 the
// code of xabort; 26 to 31 are the handler's.
class Generator {
public:
  explicit Generator(std::uint64_t seed) : random_(seed) {}

  Words program() {
    Words all{li(15, 17)};
    const unsigned units = 4 + pick(6);
    for (unsigned i = 0; i < units; ++i)
      append(all, pick(3) == 0 ? accesses(1 + pick(5)) : transaction());
    all.push_back(addi(9, 9, -1));
    all.push_back(branch(kEqual, 9, 0, 8));
    all.push_back(jump(0, -4 * static_cast<int>(all.size() - 1)));
    append(all, {csrci(csr::sstatus, 2), csrw(csr::sie, 0)});
    return all;
  }
  // Saves the handle, sets the next interrupt, counts outside and inside of a transaction.
  static Words handler(unsigned ticks) {
    return {csrr(28, csr::stxh),
            csrr(29, csr::time),
            addi(29, 29, static_cast<int>(ticks)),
            csrw(csr::stimecmp, 29),
            load(30, 27, 0),
            addi(30, 30, 1),
            store(30, 27, 0),
            xbegin(30),
            branch(kLess, 30, 0, 20),
            load(31, 26, 0),
            addi(31, 31, 1),
            store(31, 26, 0),
            kXend,
            csrw(csr::stxh, 28),
            kSret};
  }
  unsigned pick(unsigned count) { return static_cast<unsigned>(random_() % count); }

private:
  static void append(Words &to, const Words &more) {
    to.insert(to.end(), more.begin(), more.end());
  }
  unsigned place() { return 20 + pick(6); }
  unsigned value() { return 5 + pick(4); }

  Words accesses(unsigned count) {
    Words words;
    for (unsigned i = 0; i < count; ++i) {
      const unsigned size = pick(4);
      const int offset = pick(6) == 0 ? static_cast<int>(pick(64)) : static_cast<int>(8 * pick(8));
      switch (pick(8)) {
      case 0:
      case 1:
      case 2:
        words.push_back(load(value(), place(), offset, size));
        break;
      case 3:
      case 4:
      case 5:
        words.push_back(store(value(), place(), offset, size));
        break;
      case 6:
        words.push_back(atomic(kAdd, value(), place(), value()));
        break;
      default: {
        const unsigned at = place();
        append(words, {atomic(kReserve, 10, at, 0), addi(10, 10, 1),
                       atomic(kConditional, 12, at, 10), add(6, 6, 12)});
      }
      }
      if (pick(3) == 0)
        words.push_back(add(value(), value(), value()));
    }
    return words;
  }
  // Only in the first attempt, or it would lose for ever: `words` behind a branch.
  static Words once(const Words &words) {
    Words all{branch(kNotEqual, 13, 0, 4 + 4 * static_cast<int>(words.size()))};
    append(all, words);
    return all;
  }
  Words transaction() {
    Words body = accesses(1 + pick(5));
    if (pick(3) == 0) {
      body.push_back(xbegin(12));
      append(body, accesses(1 + pick(3)));
      body.push_back(kXend);
    }
    if (pick(4) == 0) {
      Words suspended{xpush(14)};
      append(suspended, accesses(1 + pick(3)));
      suspended.push_back(xpop(14));
      append(body, once(suspended));
    }
    if (pick(5) == 0)
      append(body, once({xabort(15)}));
    append(body, accesses(pick(4)));
    body.push_back(kXend);
    Words all{xbegin(13), branch(kLess, 13, 0, 4 + 4 * static_cast<int>(body.size()))};
    append(all, body);
    return all;
  }

  std::mt19937_64 random_;
};

struct Setting {
  HtmOptions htm{};
  TimingOptions timing{};
  bool record = false;
  bool interrupts = false;
  unsigned harts = 0; // 0: by the seed
  TransactionalMemory::Mistake mistake = TransactionalMemory::Mistake::none;
};

// Everything that a run leaves.
struct Left {
  std::vector<HartState> harts;
  std::vector<std::byte> memory;
  Cycle cycles = 0;
  std::vector<std::pair<std::string, std::uint64_t>> counts;
  std::vector<std::uint64_t> transactions;
  std::string wrong; // of the history
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
};

HtmOptions options_of(std::uint64_t seed) {
  return {.policy = contention::Policy(seed % 7),
          .backoff = contention::Backoff(seed / 7 % 5),
          .granularity = seed % 3 == 0 ? Granularity::line : Granularity::byte,
          .stall = seed % 4 == 1,
          .stall_limit = 2000,
          .commit_cycles = seed % 5 == 0 ? 30U : 0U,
          .abort_cycles = seed % 6 == 0 ? 50U : 0U,
          .seed = seed};
}

// Without a backoff some policies restart for ever, on any core.
HtmOptions ending(HtmOptions htm) {
  if (htm.backoff == contention::Backoff::none)
    htm.backoff = contention::Backoff::linear;
  return htm;
}

Left run_of(const std::string &way, std::uint64_t seed, const Setting &run) {
  const unsigned harts = run.harts != 0 ? run.harts : 2 + seed % 5;
  HtmMachine m(way, harts, run.htm, run.timing, seed % 2 == 0 ? 0 : 7);
  m.machine->clock().cycles_per_tick = 10;
  m.htm().make(run.mistake);
  Generator generator(seed);
  m.place(kHandler, Generator::handler(60 + seed % 40));
  for (unsigned hart = 0; hart < harts; ++hart) {
    const std::uint64_t at = kCode + hart * 0x2000;
    Words words = generator.program();
    words.push_back(kWfi);
    words.push_back(jump(0, -4));
    m.place(at, words);
    m.start(hart, at);
    HartState &state = m.hart(hart).state();
    state.x[9] = 8;
    state.stxlimit = 6;
    for (unsigned reg = 20; reg < 26; ++reg)
      state.x[reg] = kData + (reg - 20) % (2 + seed % 4) * 64;
    state.x[26] = kData;
    state.x[27] = kData + 64;
    if (run.interrupts) {
      state.ie = bit(Interrupt::supervisor_timer);
      state.status |= status::kSie;
      state.stimecmp = 20 + 7 * hart;
    }
    m.hart(hart).changed();
  }
  const auto first = m.machine->memory().bytes();
  HistoryChecker checker(m.machine->memory().base(), {first.begin(), first.end()});
  if (run.record)
    m.record();
  const bool right = run.mistake == TransactionalMemory::Mistake::none;
  const CoresEnd end = m.run(right ? 5'000'000 : 500'000);
  EXPECT_TRUE(!right || end == CoresEnd::deadlock) << way << " seed " << seed;
  Left left;
  if (run.record)
    left.wrong = checker.check(m.history, m.machine->memory());
  left.commits = checker.commits();
  left.aborts = checker.aborts();
  for (unsigned hart = 0; hart < harts; ++hart)
    left.harts.push_back(m.hart(hart).state());
  const auto bytes = m.machine->memory().bytes();
  left.memory.assign(bytes.begin(), bytes.end());
  left.cycles = m.machine->cores().schedule().round;
  if (m.cores)
    left.counts = m.cores->counts();
  const HtmCounters &c = m.counters();
  left.transactions = {c.transactions, c.commits,     c.restarts, c.unique_restarts, c.fallbacks,
                       c.stalls,       c.interrupted, c.backoffs, c.backoff_cycles,  c.cycles};
  EXPECT_TRUE(!right || c.transactions == c.commits + c.fallbacks) << way << " seed " << seed;
  EXPECT_TRUE(!right || !m.htm().any_marks()) << way << " seed " << seed;
  return left;
}

class Histories : public ::testing::TestWithParam<std::string> {};
INSTANTIATE_TEST_SUITE_P(Machine, Histories, ::testing::ValuesIn(ways()),
                         [](const auto &info) { return name_of_way(info.param); });

// Policies, backoffs, granularities and stalls go by with the seeds.
TEST_P(Histories, AreSerialAndOpaque) {
  std::uint64_t commits = 0;
  std::uint64_t aborts = 0;
  for (std::uint64_t seed = 1; seed <= 35; ++seed) {
    const Left left = run_of(
        GetParam(), seed, {.htm = options_of(seed), .record = true, .interrupts = seed % 2 == 0});
    ASSERT_EQ(left.wrong, "") << "seed " << seed;
    commits += left.commits;
    aborts += left.aborts;
  }
  EXPECT_GT(commits, 2000U);
  EXPECT_GT(aborts, 300U);
}

TEST_P(Histories, RunningAheadChangesNothing) {
  if (GetParam() == "functional")
    return; // it has no way of running ahead
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Setting run{.htm = options_of(seed), .interrupts = seed % 2 == 0};
    const Left ahead = run_of(GetParam(), seed, run);
    run.timing.lockstep = true;
    const Left lockstep = run_of(GetParam(), seed, run);
    ASSERT_EQ(ahead.transactions, lockstep.transactions) << "seed " << seed;
    ASSERT_EQ(ahead.cycles, lockstep.cycles) << "seed " << seed;
    ASSERT_TRUE(ahead.harts == lockstep.harts) << "seed " << seed;
    ASSERT_TRUE(ahead.memory == lockstep.memory) << "seed " << seed;
    ASSERT_EQ(ahead.counts, lockstep.counts) << "seed " << seed;
  }
}

// Recording and checked values take every access through the tables, and change nothing else.
TEST_P(Histories, WatchingChangesNothing) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed) {
    Setting run{.htm = options_of(seed), .interrupts = seed % 2 == 0};
    const Left plain = run_of(GetParam(), seed, run);
    run.record = true;
    run.timing.check_values = true;
    const Left watched = run_of(GetParam(), seed, run);
    ASSERT_EQ(plain.transactions, watched.transactions) << "seed " << seed;
    ASSERT_EQ(plain.cycles, watched.cycles) << "seed " << seed;
    ASSERT_TRUE(plain.harts == watched.harts) << "seed " << seed;
    ASSERT_TRUE(plain.memory == watched.memory) << "seed " << seed;
  }
}

// On cores with a window. A recorded run is in order throughout; the others are where nobody has a
// transaction.
TEST_P(Histories, AreSerialAndOpaqueWithWindows) {
  if (GetParam() == "functional")
    return; // it has no cores
  const std::string way = GetParam() + std::string(kWindow);
  for (std::uint64_t seed = 1; seed <= 7; ++seed) {
    Setting run{.htm = ending(options_of(seed)), .record = true};
    ASSERT_EQ(run_of(way, seed, run).wrong, "") << "seed " << seed;
    run.record = false;
    const Left once = run_of(way, seed, run);
    run.timing.check_values = true;
    const Left checked = run_of(way, seed, run);
    ASSERT_EQ(once.transactions, checked.transactions) << "seed " << seed;
    ASSERT_EQ(once.cycles, checked.cycles) << "seed " << seed;
    ASSERT_TRUE(once.harts == checked.harts) << "seed " << seed;
    ASSERT_TRUE(once.memory == checked.memory) << "seed " << seed;
  }
}

// Transactions add to two words, in windows full of plain accesses: to words of the hart's own, and
// to those two, which differ in no order in which they are read.
TEST_P(Histories, WindowsSeeTransactionsAtOnce) {
  if (GetParam() == "functional")
    return;
  constexpr unsigned kHarts = 8;
  constexpr unsigned kTurns = 20;
  Words words{li(9, kTurns)};
  const auto append = [&](const Words &more) {
    words.insert(words.end(), more.begin(), more.end());
  };
  const auto adds = [&](unsigned to, int offset) {
    append({load(6, to, offset), addi(6, 6, 1), store(6, to, offset)});
  };
  // The first that is read is what the second is, or less.
  const auto reads = [&](int first, int second) {
    append({load(6, 11, first), load(7, 11, second), branch(kLess, 7, 6, 8), jump(0, 8),
            addi(12, 12, 1)});
  };
  for (int line = 0; line < 6; ++line)
    adds(20, line * 64);
  reads(0, 128);
  reads(128, 0);
  append({xbegin(5)});
  adds(11, 0);
  adds(11, 128);
  append({kXend, addi(9, 9, -1)});
  append({branch(kNotEqual, 9, 0, -4 * static_cast<int>(words.size() - 1)), kWfi, jump(0, -4)});
  for (std::uint64_t seed = 1; seed <= 7; ++seed) {
    const HtmOptions htm = ending(options_of(seed));
    HtmMachine m(GetParam() + std::string(kWindow), kHarts, htm);
    m.place(kCode, words);
    for (unsigned hart = 0; hart < kHarts; ++hart) {
      m.start(hart, kCode);
      m.hart(hart).state().x[20] = kData + 0x1000 * (hart + 1);
      m.hart(hart).changed();
    }
    ASSERT_EQ(m.run(), CoresEnd::deadlock) << "seed " << seed;
    EXPECT_EQ(m.counters().commits, kHarts * kTurns) << "seed " << seed;
    EXPECT_EQ(m.word(kData), kHarts * kTurns) << "seed " << seed;
    EXPECT_EQ(m.word(kData + 128), kHarts * kTurns) << "seed " << seed;
    for (unsigned hart = 0; hart < kHarts; ++hart) {
      EXPECT_EQ(m.x(12, hart), 0U) << "seed " << seed << " hart " << hart;
      for (unsigned line = 0; line < 6; ++line)
        EXPECT_EQ(m.word(kData + 0x1000 * (hart + 1) + line * 64), kTurns) << "seed " << seed;
    }
  }
}

// Each of these is found by a history, by the end of the run, or by lockstep.
bool finds(const std::string &way, TransactionalMemory::Mistake mistake) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Setting run{.htm = options_of(seed), .record = true, .interrupts = true, .mistake = mistake};
    if (!run_of(way, seed, run).wrong.empty())
      return true;
  }
  return false;
}

TEST_P(Histories, FindUndoingTwice) {
  EXPECT_TRUE(finds(GetParam(), TransactionalMemory::Mistake::undo_twice));
}

TEST_P(Histories, FindAKillOfAHartThatHasRunAhead) {
  if (GetParam() == "functional")
    return; // nobody runs ahead
  bool found = false;
  for (std::uint64_t seed = 1; seed <= 20 && !found; ++seed) {
    Setting run{.htm = options_of(seed),
                .interrupts = seed % 2 == 0,
                .mistake = TransactionalMemory::Mistake::kill_too_early};
    const Left ahead = run_of(GetParam(), seed, run);
    run.timing.lockstep = true;
    const Left lockstep = run_of(GetParam(), seed, run);
    found = ahead.transactions != lockstep.transactions || ahead.cycles != lockstep.cycles ||
            !(ahead.harts == lockstep.harts);
  }
  EXPECT_TRUE(found);
}

// --- small programs, disturbed at every instruction ----------------------------------------------

// Takes from one account, gives to another, counts; in floating point too.
Words transfer() {
  return {
      xbegin(13),    load(5, 11, 0),    addi(5, 5, -3),          store(5, 11, 0), load(6, 11, 128),
      addi(6, 6, 3), store(6, 11, 128), atomic(kAdd, 7, 14, 15), load(8, 11, 7),  store(8, 11, 61),
      kXend,         addi(9, 9, 1)};
}

struct Small {
  std::vector<std::uint64_t> words;
  std::array<std::uint64_t, 33> x;
  std::uint64_t restarts;
};

// `at`: before which instruction it is disturbed; ~0: never. `with`: an abort from outside, or an
// interrupt.
enum class With : std::uint8_t { abort, interrupt };
Small disturbed(const std::string &way, std::uint64_t at, With with, std::uint64_t &ran) {
  HtmMachine m(way, 1);
  for (unsigned i = 0; i < 32; ++i)
    m.put(kData + 8 * i, 1000 * i + 7);
  m.place(kHandler, {csrr(28, csr::stxh), csrw(csr::sie, 0), load(30, 11, 512), store(30, 11, 512),
                     csrw(csr::stxh, 28), kSret});
  Words words = transfer();
  words.push_back(kWfi);
  words.push_back(jump(0, -4));
  m.place(kCode, words);
  m.start(0, kCode);
  HartState &state = m.hart().state();
  state.x[14] = kData + 192;
  state.x[15] = 5;
  m.hart().changed();
  if (at != ~std::uint64_t{0}) {
    m.run(at);
    if (with == With::abort) {
      // Outside: wins against its writer, and then against its readers.
      std::uint64_t value = 0;
      EXPECT_TRUE(m.machine->memory().read_value(kData, value));
      m.put(kData, value);
    } else {
      state.ie = bit(Interrupt::supervisor_software);
      state.status |= status::kSie;
      m.hart().set_software(true);
      m.hart().changed();
    }
  }
  EXPECT_EQ(m.run(100'000), CoresEnd::deadlock) << at;
  ran = m.machine->cores().schedule().instructions;
  Small small{.words = {}, .x = m.hart().state().x, .restarts = m.counters().restarts};
  for (const unsigned reg : {13U, 28U, 29U, 30U, 31U, 32U})
    small.x[reg] = 0; // the answer, and the handler's
  for (unsigned i = 0; i < 32; ++i)
    small.words.push_back(m.word(kData + 8 * i));
  return small;
}

TEST_P(Histories, AbortsAtEveryInstructionChangeNoResult) {
  std::uint64_t length = 0;
  const Small whole = disturbed(GetParam(), ~std::uint64_t{0}, With::abort, length);
  ASSERT_LT(length, 100U);
  std::uint64_t restarts = 0;
  for (std::uint64_t at = 0; at < length; ++at) {
    std::uint64_t ran = 0;
    const Small other = disturbed(GetParam(), at, With::abort, ran);
    EXPECT_EQ(other.words, whole.words) << at;
    EXPECT_EQ(other.x, whole.x) << at;
    restarts += other.restarts;
  }
  EXPECT_GE(restarts, 8U); // at all instructions from the first load to the end
}

TEST_P(Histories, InterruptsAtEveryInstructionChangeNoResult) {
  std::uint64_t length = 0;
  const Small whole = disturbed(GetParam(), ~std::uint64_t{0}, With::interrupt, length);
  for (std::uint64_t at = 0; at < length; ++at) {
    std::uint64_t ran = 0;
    const Small other = disturbed(GetParam(), at, With::interrupt, ran);
    EXPECT_EQ(other.words, whole.words) << at;
    EXPECT_EQ(other.x, whole.x) << at;
    EXPECT_EQ(other.restarts, 0U) << at;
  }
}

TEST_P(Histories, DisturbancesOfWindowsChangeNoResult) {
  if (GetParam() == "functional")
    return; // it has no cores
  const std::string way = GetParam() + std::string(kWindow);
  for (const With with : {With::abort, With::interrupt}) {
    std::uint64_t length = 0;
    const Small whole = disturbed(way, ~std::uint64_t{0}, with, length);
    for (std::uint64_t at = 0; at < length; ++at) {
      std::uint64_t ran = 0;
      const Small other = disturbed(way, at, with, ran);
      EXPECT_EQ(other.words, whole.words) << at;
      EXPECT_EQ(other.x, whole.x) << at;
    }
  }
}

TEST_P(Histories, FindRegistersThatAreNotRestored) {
  HtmMachine m(GetParam(), 1);
  m.htm().make(TransactionalMemory::Mistake::keep_registers);
  m.run_all({li(20, 3), li(12, 16), xbegin(5), branch(kNotEqual, 5, 0, 12), li(20, 4), xabort(12),
             kXend});
  EXPECT_NE(m.x(20), 3U);
}

// --- protocols that refuse -----------------------------------------------------------------------

// Adds to six words in transactions that meet, in an order of each hart's own, and outside of them.
Words additions(std::uint64_t seed) {
  std::mt19937_64 random(seed);
  Words words{li(9, 12)};
  for (unsigned i = 0; i < 4; ++i) {
    const auto place = [&random] { return static_cast<int>(random() % 3 * 64 + random() % 2 * 8); };
    const Words body{xbegin(5)};
    words.insert(words.end(), body.begin(), body.end());
    for (unsigned access = 0; access < 2; ++access) {
      const int at = place();
      const Words more{load(6, 11, at), addi(6, 6, 1 + static_cast<int>(random() % 5)),
                       store(6, 11, at)};
      words.insert(words.end(), more.begin(), more.end());
    }
    words.push_back(kXend);
    const Words outside{addi(20, 11, place()), li(7, 1), atomic(kAdd, 6, 20, 7)};
    words.insert(words.end(), outside.begin(), outside.end());
  }
  words.push_back(addi(9, 9, -1));
  words.push_back(branch(kNotEqual, 9, 0, -4 * static_cast<int>(words.size() - 1)));
  return words;
}

struct Added {
  std::vector<std::byte> memory;
  std::uint64_t refused = 0; // accesses
};

Added added(const std::string &way, std::uint64_t seed) {
  HtmOptions htm = options_of(seed);
  if (htm.policy == contention::Policy::polite && htm.backoff == contention::Backoff::none)
    htm.backoff = contention::Backoff::linear; // which ends
  HtmMachine m(way, 8, htm);
  for (unsigned hart = 0; hart < 8; ++hart) {
    Words words = additions(8 * seed + hart);
    words.push_back(kWfi);
    words.push_back(jump(0, -4));
    m.place(kCode + hart * 0x2000, words);
    m.start(hart, kCode + hart * 0x2000);
  }
  EXPECT_EQ(m.run(), CoresEnd::deadlock) << way << " seed " << seed;
  EXPECT_EQ(m.counters().commits, 8U * 12U * 4U) << way << " seed " << seed;
  const auto bytes = m.machine->memory().bytes();
  return {{bytes.begin(), bytes.end()}, m.cores->result().statistics.core.refused};
}

TEST(Refusals, EndInTheSameMemory) {
  unsigned refusing = 0;
  for (const std::string &way : ways()) {
    if (!way.ends_with(kRefusing))
      continue;
    ++refusing;
    const std::string plain = way.substr(0, way.size() - kRefusing.size());
    std::uint64_t refused = 0;
    for (std::uint64_t seed = 1; seed <= 35; ++seed) {
      const Added one = added(plain, seed);
      const Added two = added(way, seed);
      EXPECT_TRUE(one.memory == two.memory) << way << " seed " << seed;
      EXPECT_EQ(one.refused, 0U);
      refused += two.refused;
    }
    EXPECT_GT(refused, 1000U) << way;
  }
  EXPECT_GE(refusing, 1U);
}

// A refused access leaves the winner its line: it finds its own bytes without asking.
TEST(Refusals, LeaveTheWinnerItsLine) {
  // Hart 0 marks a line, waits until hart 1 has been refused three times, and writes it again.
  const Words words = {branch(kNotEqual, 10, 0, 40),
                       li(9, 400),
                       xbegin(5),
                       store(11, 11, 0),
                       addi(9, 9, -1),
                       branch(kNotEqual, 9, 0, -4),
                       store(11, 11, 0),
                       kXend,
                       kWfi,
                       jump(0, -4),
                       li(9, 60),
                       addi(9, 9, -1),
                       branch(kNotEqual, 9, 0, -4),
                       xbegin(5),
                       load(6, 11, 0),
                       kXend};
  for (const std::string &way : ways()) {
    if (!way.ends_with(kRefusing))
      continue;
    std::uint64_t fills[2] = {};
    for (const bool refuses : {false, true}) {
      HtmMachine m(refuses ? way : way.substr(0, way.size() - kRefusing.size()), 2,
                   {.policy = contention::Policy::timestamp, .backoff = contention::Backoff::none});
      EXPECT_EQ(m.run_all(words), CoresEnd::deadlock) << way;
      EXPECT_EQ(m.counters().commits, 2U) << way;
      const CoreStatistics core = m.cores->result().statistics.core;
      EXPECT_EQ(core.refused > 0, refuses) << way;
      fills[refuses ? 1 : 0] = core.fills;
    }
    EXPECT_LT(fills[1], fills[0]) << way;
  }
}

} // namespace
} // namespace tandem::machine
