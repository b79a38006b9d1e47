// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Harts in turn: the same however a run is cut, fair, idle without cost; lines, fences, hooks.
#include "machine/cores/functional.h"

#include "machine/cores/testing/bare.h"
#include "machine/isa/csr.h"

#include <gtest/gtest.h>
#include <random>

namespace tandem::machine {
namespace {

using testing::BareMachine;
using testing::BareOptions;

constexpr std::uint64_t kCode = 0x8000'0000;
constexpr std::uint64_t kData = 0x8010'0000;

// Instructions, as few as the programs here need.
constexpr std::uint32_t addi(unsigned rd, unsigned rs1, int imm) {
  return static_cast<std::uint32_t>(imm) << 20 | rs1 << 15 | rd << 7 | 0x13;
}
constexpr std::uint32_t csr_write(unsigned number, unsigned rs1) {
  return number << 20 | rs1 << 15 | 1U << 12 | 0x73;
}
constexpr std::uint32_t csr_read(unsigned rd, unsigned number) {
  return number << 20 | 2U << 12 | rd << 7 | 0x73;
}
constexpr std::uint32_t csr_set_bits(unsigned number, unsigned imm) {
  return number << 20 | imm << 15 | 6U << 12 | 0x73;
}
constexpr std::uint32_t jump(int bytes) { // up to 1 KiB back or forth
  const auto b = static_cast<std::uint32_t>(bytes);
  return (b >> 20 & 1) << 31 | (b >> 1 & 0x3ff) << 21 | (b >> 11 & 1) << 20 |
         (b >> 12 & 0xff) << 12 | 0x6f;
}
constexpr std::uint32_t kWfi = 0x10500073;
constexpr std::uint32_t kEcall = 0x00000073;
constexpr std::uint32_t kNothing = addi(0, 0, 0);
constexpr std::uint32_t kReserve = 0x1005a52f;     // lr.w a0, (a1)
constexpr std::uint32_t kConditional = 0x18c5a52f; // sc.w a0, a2, (a1)
constexpr std::uint32_t kAtomicAdd = 0x00c5a52f;   // amoadd.w a0, a2, (a1)
constexpr std::uint32_t kLoad = 0x0005a503;        // lw a0, 0(a1)
constexpr std::uint32_t kStore = 0x00c5a023;       // sw a2, 0(a1)

std::unique_ptr<BareMachine> machine_of(unsigned harts, std::vector<std::uint32_t> words) {
  auto machine = std::move(BareMachine::create({.harts = harts, .memory_size = 8U << 20})).value();
  EXPECT_TRUE(machine->memory().write(kCode, std::as_bytes(std::span(words))));
  for (auto &hart : machine->harts()) {
    hart->start(kCode, hart->id(), kData);
    hart->state().x[12] = 1;
  }
  return machine;
}

std::uint32_t word_at(BareMachine &machine, std::uint64_t address) {
  std::uint32_t value = 0;
  EXPECT_TRUE(machine.memory().read_value(address, value));
  return value;
}

// a0 counts, and what the others do is seen: the order of everything is in the state.
std::vector<std::uint32_t> busy_words() {
  return {kAtomicAdd,      addi(5, 5, 1), kLoad,          addi(6, 10, 3), kReserve,
          addi(12, 12, 1), kConditional,  addi(7, 10, 0), jump(-32)};
}

TEST(machine_functional, a_run_in_parts_is_the_run_at_once) {
  auto whole = machine_of(3, busy_words());
  auto parts = machine_of(3, busy_words());
  EXPECT_EQ(whole->cores().run(20'000), FunctionalCores::End::limit);
  std::mt19937 random(3);
  for (std::uint64_t left = 20'000; left > 0;) {
    const std::uint64_t part = std::min<std::uint64_t>(left, 1 + random() % 250);
    EXPECT_EQ(parts->cores().run(part), FunctionalCores::End::limit);
    left -= part;
  }
  EXPECT_EQ(whole->cores().schedule(), parts->cores().schedule());
  for (unsigned i = 0; i < 3; ++i)
    EXPECT_TRUE(whole->hart(i).state() == parts->hart(i).state()) << i;
  EXPECT_EQ(word_at(*whole, kData), word_at(*parts, kData));
  EXPECT_EQ(whole->clock().now, parts->clock().now);
}

TEST(machine_functional, a_restored_machine_goes_on_as_it_would_have) {
  auto first = machine_of(2, busy_words());
  first->cores().run(1'234);
  auto second = machine_of(2, busy_words());
  for (unsigned i = 0; i < 2; ++i) {
    second->hart(i).state() = first->hart(i).state();
    second->hart(i).changed();
  }
  std::ranges::copy(first->memory().bytes(), second->memory().bytes().begin());
  second->memory().code_changed();
  second->cores().restore(first->cores().schedule());
  second->clock().now = first->clock().now;
  first->cores().run(5'000);
  second->cores().run(5'000);
  EXPECT_TRUE(first->hart(0).state() == second->hart(0).state());
  EXPECT_TRUE(first->hart(1).state() == second->hart(1).state());
  EXPECT_EQ(word_at(*first, kData), word_at(*second, kData));
}

TEST(machine_functional, turns_are_a_hundred_instructions) {
  auto machine = machine_of(4, {addi(5, 5, 1), jump(-4)});
  machine->cores().run(1'000); // 10 turns
  const std::uint64_t expected[4] = {150, 150, 100, 100};
  for (unsigned i = 0; i < 4; ++i)
    EXPECT_EQ(machine->hart(i).state().x[5], expected[i]) << i;
  EXPECT_EQ(machine->hart(0).state().instret, 300U);
}

TEST(machine_functional, time_jumps_while_all_sleep) {
  // Timer at tick 5,000; wfi; then count.
  auto machine = machine_of(2, {csr_write(csr::stimecmp, 8), csr_set_bits(csr::sie, 0),
                                csr_write(csr::sie, 9), kWfi, addi(5, 5, 1), jump(-4)});
  for (auto &hart : machine->harts()) {
    hart->state().x[8] = hart->id() == 0 ? 5'000 : ~std::uint64_t{0};
    hart->state().x[9] = 0x20;
  }
  EXPECT_EQ(machine->cores().run(50), FunctionalCores::End::limit);
  EXPECT_GE(machine->clock().now, 500'000U);
  EXPECT_LT(machine->clock().now, 500'200U);
  EXPECT_EQ(machine->hart(0).state().activity, Activity::running);
  EXPECT_EQ(machine->hart(1).state().activity, Activity::waiting);
}

TEST(machine_functional, says_when_nothing_can_happen) {
  auto machine = machine_of(2, {kWfi, jump(-4)});
  EXPECT_EQ(machine->cores().run(1'000), FunctionalCores::End::deadlock);
  machine->hart(1).state().ie = 2;
  machine->hart(1).set_software(true);
  EXPECT_EQ(machine->cores().run(10), FunctionalCores::End::limit);
}

class OneEvent final : public Agenda {
public:
  explicit OneEvent(Cycle at) : at_(at) {}
  [[nodiscard]] Cycle next() const override { return at_; }
  void run(Cycle now) override {
    happened = now;
    at_ = kNever;
    if (action)
      action();
  }
  Cycle happened = 0;
  std::function<void()> action;

private:
  Cycle at_;
};

TEST(machine_functional, events_happen_between_rounds) {
  auto machine = machine_of(1, {addi(5, 5, 1), jump(-4)});
  OneEvent event(12'345);
  FunctionalCores cores(machine->harts(), machine->clock(), &event);
  event.action = [&] { EXPECT_EQ(machine->hart().state().instret, 12'400U); };
  cores.run(20'000);
  EXPECT_EQ(event.happened, 12'400U);
}

TEST(machine_functional, an_event_wakes_a_sleeper) {
  auto machine = machine_of(1, {csr_set_bits(csr::sie, 2), kWfi, addi(5, 5, 1), jump(-4)});
  OneEvent event(1'000'000);
  event.action = [&] { machine->hart().set_software(true); };
  FunctionalCores cores(machine->harts(), machine->clock(), &event);
  EXPECT_EQ(cores.run(100), FunctionalCores::End::limit);
  EXPECT_EQ(machine->clock().now, 1'000'098U); // 2 before it slept, 98 after
}

TEST(machine_functional, a_reservation_ends_with_the_turn_of_another) {
  // A reservation, then more than a turn of nothing, then the store.
  std::vector<std::uint32_t> words = {kReserve};
  words.insert(words.end(), 120, kNothing);
  words.insert(words.end(), {kConditional, addi(5, 10, 0), jump(0)});
  auto two = machine_of(2, words);
  two->cores().run(600);
  EXPECT_EQ(two->hart(0).state().x[5], 1U);
  auto one = machine_of(1, words);
  one->cores().run(300);
  EXPECT_EQ(one->hart(0).state().x[5], 0U);
}

TEST(machine_functional, locks_of_many_harts_make_progress) {
  // lr.w a0; addi a3, a0, 1; sc.w a4, a3, (a1); bnez a4, -12; addi t0, t0, 1; j
  auto machine =
      machine_of(16, {kReserve, 0x00150693, 0x18d5a72f, 0xfe071ae3, addi(5, 5, 1), jump(-20)});
  machine->cores().run(100'000);
  std::uint64_t sum = 0;
  for (auto &hart : machine->harts()) {
    EXPECT_GT(hart->state().x[5], 500U);
    sum += hart->state().x[5];
  }
  EXPECT_GE(word_at(*machine, kData), sum);
  EXPECT_LE(word_at(*machine, kData), sum + 16);
}

// The longest loop that the manual promises an end: 16 instructions, which begin anywhere in a
// turn. A turn spoils the one that it cuts; all others in it succeed.
TEST(machine_functional, constrained_loops_end_wherever_turns_cut_them) {
  constexpr unsigned kTurns = 20;
  constexpr std::uint32_t kConditionalTo14 = 0x18d5a72f; // sc.w a4, a3, (a1)
  constexpr std::uint32_t kAgain = 0xfc0712e3;           // bnez a4, -60
  for (unsigned offset = 0; offset < FunctionalCores::kTurn; ++offset) {
    SCOPED_TRACE(offset);
    std::vector<std::uint32_t> words(offset, kNothing);
    words.push_back(kReserve);
    words.insert(words.end(), 12, kNothing);
    words.insert(words.end(), {addi(13, 10, 1), kConditionalTo14, kAgain, addi(5, 5, 1)});
    words.push_back(jump(-68));
    auto machine = machine_of(3, words);
    machine->cores().run(3 * kTurns * FunctionalCores::kTurn);
    std::uint64_t sum = 0;
    for (auto &hart : machine->harts()) {
      EXPECT_GE(hart->state().x[5], 4 * (kTurns - 1));
      sum += hart->state().x[5];
    }
    EXPECT_GE(word_at(*machine, kData), sum);
    EXPECT_LE(word_at(*machine, kData), sum + 3);
  }
}

class Hook final : public HartEnvironment {
public:
  Action trap(Hart &hart, const Trap &trap) override {
    ++calls;
    last = trap;
    pc = hart.state().pc;
    instret = hart.state().instret;
    if (action)
      action(hart);
    hart.state().pc += 4;
    return Action::resume;
  }
  void fence_i(Hart & /*hart*/) override { ++fences; }
  unsigned calls = 0;
  unsigned fences = 0;
  Trap last{};
  std::uint64_t pc = 0;
  std::uint64_t instret = 0;
  std::function<void(Hart &)> action;
};

TEST(machine_hart, ecalls_go_to_the_environment) {
  auto machine = machine_of(1, {addi(17, 0, 8), 0x0000100f, kEcall, addi(5, 5, 1), jump(0)});
  Hook hook;
  machine->hart().intercept(&hook, 0, bit(Exception::ecall_supervisor));
  machine->cores().run(20);
  EXPECT_EQ(hook.calls, 1U);
  EXPECT_EQ(hook.fences, 1U);
  EXPECT_EQ(hook.last.cause, Exception::ecall_supervisor);
  EXPECT_EQ(hook.pc, kCode + 8);
  EXPECT_EQ(hook.instret, 2U);
  EXPECT_EQ(machine->hart().state().x[5], 1U);
}

TEST(machine_hart, without_an_environment_ecalls_are_the_guests) {
  auto machine = machine_of(1, {kEcall});
  machine->hart().state().stvec = kCode + 0x100;
  machine->hart().run(1);
  EXPECT_EQ(machine->hart().state().pc, kCode + 0x100);
  EXPECT_EQ(machine->hart().state().scause, 9U);
  EXPECT_EQ(machine->hart().state().instret, 0U);
}

TEST(machine_hart, the_environment_stops_and_starts_harts) {
  auto machine = machine_of(2, {kEcall, addi(5, 5, 1), jump(-4)});
  machine->hart(1).stop();
  Hook hook;
  hook.action = [&](Hart & /*hart*/) { machine->hart(1).start(kCode + 4, 1, 2); };
  machine->hart(0).intercept(&hook, 0, bit(Exception::ecall_supervisor));
  machine->cores().run(1'000);
  EXPECT_EQ(machine->hart(1).state().instret, 500U);
  EXPECT_EQ(machine->hart(1).state().x[11], 2U);
}

TEST(machine_hart, a_stop_from_the_environment_is_at_once) {
  auto machine = machine_of(1, {addi(5, 5, 1), kEcall, jump(-8)});
  Hook hook;
  hook.action = [&](Hart & /*hart*/) { machine->cores().request_stop(); };
  machine->hart().intercept(&hook, 0, bit(Exception::ecall_supervisor));
  EXPECT_EQ(machine->cores().run(1'000'000), FunctionalCores::End::asked);
  EXPECT_EQ(machine->cores().schedule().instructions, 2U);
}

TEST(machine_hart, interrupts_are_taken_between_two_instructions) {
  auto machine = machine_of(1, {addi(5, 5, 1), jump(-4)});
  HartState &state = machine->hart().state();
  state.stvec = kCode + 0x100;
  state.ie = 0x22;
  state.status |= status::kSie;
  state.stimecmp = 3; // ticks: cycle 300
  ASSERT_TRUE(machine->memory().write_value(kCode + 0x100, jump(0)));
  machine->hart().changed();
  machine->hart().run(300);
  EXPECT_EQ(state.pc, kCode);
  EXPECT_EQ(state.x[5], 150U);
  machine->hart().run(1);
  EXPECT_EQ(state.scause, kInterruptBit | 5);
  EXPECT_EQ(state.sepc, kCode);
}

TEST(machine_hart, counters_are_exact) {
  auto machine = machine_of(1, {kNothing, csr_read(5, csr::instret), csr_read(6, csr::cycle),
                                csr_read(7, csr::time), jump(0)});
  machine->clock().now = 1'000;
  machine->hart().run(10);
  EXPECT_EQ(machine->hart().state().x[5], 1U);
  EXPECT_EQ(machine->hart().state().x[6], 1'002U);
  EXPECT_EQ(machine->hart().state().x[7], 10U);
}

TEST(machine_hart, satp_knows_bare_and_sv39) {
  auto machine = machine_of(1, {csr_write(csr::satp, 8), csr_read(5, csr::satp), jump(0)});
  for (std::uint64_t mode = 1; mode < 16; ++mode) {
    if (mode == satp::kSv39)
      continue;
    machine->hart().state().pc = kCode;
    machine->hart().state().x[8] = mode << 60 | 5;
    machine->hart().run(2);
    EXPECT_EQ(machine->hart().state().x[5], 0U) << mode;
  }
}

TEST(machine_hart, registers_of_machine_mode_are_not_there) {
  auto machine = machine_of(1, {csr_read(5, csr::mstatus)});
  machine->hart().state().stvec = kCode + 0x100;
  machine->hart().run(1);
  EXPECT_EQ(machine->hart().state().scause, 2U);
  EXPECT_EQ(machine->hart().state().stval, csr_read(5, csr::mstatus));
}

TEST(machine_hart, a_remote_fence_is_seen_at_the_next_instruction) {
  auto machine = machine_of(1, {kLoad, jump(-4)});
  // Root at kData: 1 GiB of memory at its own place, and a page at 0x4000'0000 that changes.
  const std::uint64_t root = kData;
  const std::uint64_t flags = 0xcf;
  auto put = [&](std::uint64_t at, std::uint64_t value) {
    ASSERT_TRUE(machine->memory().write_value(at, value));
  };
  put(root + 16, kCode >> 12 << 10 | flags);
  put(root + 8, (root + 0x1000) >> 12 << 10 | 1);
  put(root + 0x1000, (root + 0x2000) >> 12 << 10 | 1);
  put(root + 0x2000, (root + 0x3000) >> 12 << 10 | flags);
  put(root + 0x3000, 111);
  put(root + 0x4000, 222);
  HartState &state = machine->hart().state();
  state.satp = satp::kSv39 << 60 | root >> 12;
  state.x[11] = 0x4000'0000;
  machine->hart().changed();
  machine->hart().run(2);
  EXPECT_EQ(state.x[10], 111U);
  put(root + 0x2000, (root + 0x4000) >> 12 << 10 | flags);
  machine->hart().sfence_vma({.start = 0x4000'0000, .size = 4096});
  machine->hart().run(2);
  EXPECT_EQ(state.x[10], 222U);
  EXPECT_EQ(machine->hart().translate(0x4000'0123), root + 0x4123);
  EXPECT_EQ(machine->hart().translate(0x5000'0000), std::nullopt);
}

TEST(machine_hart, decoded_code_follows_writes_from_outside) {
  auto machine = machine_of(1, {addi(5, 0, 1), jump(-4)});
  machine->hart().run(10);
  EXPECT_EQ(machine->hart().state().x[5], 1U);
  ASSERT_TRUE(machine->memory().write_value(kCode, addi(5, 0, 2)));
  machine->hart().run(2);
  EXPECT_EQ(machine->hart().state().x[5], 2U);
}

TEST(machine_hart, more_code_than_is_kept) {
  // A jump in each of 2,100 pages, around and around: the oldest decoded pages go.
  auto machine = std::move(BareMachine::create({.memory_size = 16U << 20})).value();
  constexpr unsigned kPages = 2'100;
  for (unsigned page = 0; page < kPages; ++page) {
    const std::int64_t to = page + 1 == kPages ? -std::int64_t{kPages - 1} * 4096 : 4096;
    const auto b = static_cast<std::uint32_t>(to - 4);
    const std::uint32_t far = (b >> 20 & 1) << 31 | (b >> 1 & 0x3ff) << 21 | (b >> 11 & 1) << 20 |
                              (b >> 12 & 0xff) << 12 | 0x6f;
    ASSERT_TRUE(machine->memory().write_value(kCode + page * 4096ULL, addi(5, 5, 1)));
    ASSERT_TRUE(machine->memory().write_value(
        kCode + page * 4096ULL + 4, page + 1 == kPages ? std::uint32_t{0x00030067} : far)); // jr t1
  }
  machine->hart().start(kCode, 0, 0);
  machine->hart().state().x[6] = kCode;
  machine->hart().run(kPages * 6);
  EXPECT_EQ(machine->hart().state().x[5], kPages * 3);
}

TEST(machine_hart, stores_beside_code_keep_being_seen) {
  // sw a2, 0(a1) into the page that runs; a2 counts; the word is read back.
  auto machine = machine_of(1, {kStore, kLoad, addi(12, 12, 1), jump(-12)});
  machine->hart().state().x[11] = kCode + 0x800;
  for (unsigned i = 1; i < 400; ++i) {
    machine->hart().run(4);
    ASSERT_EQ(machine->hart().state().x[10], i);
  }
}

} // namespace
} // namespace tandem::machine
