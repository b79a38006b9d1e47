// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random words as code, random registers, control registers and page tables: nothing happens to the
// host, and the invariants of a hart hold. Runs under the sanitizers in scripts/verify; memory is
// the middle of a larger mapping that cannot be touched, so that a stray access ends the test.
#include "machine/cores/testing/bare.h"
#include "machine/isa/csr.h"
#include "machine/isa/decode.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <random>

namespace tandem::machine {
namespace {

using testing::BareMachine;

constexpr std::uint64_t kBase = 0x8000'0000;
constexpr std::uint64_t kSize = 256 * 1024;

class Fuzzer {
public:
  Fuzzer(unsigned seed, testing::Way way) : random_(seed) {
    machine_ =
        std::move(BareMachine::create({.way = way, .harts = 2, .memory_size = kSize})).value();
    for (auto &hart : machine_->harts())
      if (hart->state().activity == Activity::stopped)
        hart->start(kBase, 0, 0);
  }

  void run() {
    fill();
    for (unsigned round = 0; round < 40; ++round) {
      for (auto &hart : machine_->harts())
        scatter(*hart);
      machine_->cores().run(500);
      for (auto &hart : machine_->harts())
        check(hart->state());
      if (round % 8 == 7)
        fill();
    }
  }

private:
  std::uint32_t word() {
    auto bits = static_cast<std::uint32_t>(random_());
    const auto rows = opcode_rows();
    const OpcodeRow &row = rows[random_() % rows.size()];
    switch (random_() % 8) {
    case 0:
      return bits;
    case 1: { // a control register that is there
      const auto csrs = csr_rows();
      return csrs[random_() % csrs.size()].number << 20 | (bits & 0xfffff & ~0x7fU) | 0x73;
    }
    default:
      return (bits & ~row.mask) | row.match;
    }
  }

  // Code, and page tables where satp may point: entries lead into memory, mostly.
  void fill() {
    std::vector<std::uint32_t> words(kSize / 4);
    for (std::uint32_t &w : words)
      w = word();
    for (std::size_t i = kSize / 8; i < kSize / 4; i += 2) {
      const std::uint64_t page = (kBase >> 12) + random_() % (kSize / 4096 + 1);
      const std::uint64_t flags = random_() % 3 == 0 ? 1 : random_() & 0xff;
      const std::uint64_t entry = page << 10 | flags | 1;
      words[i] = static_cast<std::uint32_t>(entry);
      words[i + 1] = static_cast<std::uint32_t>(entry >> 32);
    }
    ASSERT_TRUE(machine_->memory().write(kBase, std::as_bytes(std::span(words))));
  }

  std::uint64_t address() {
    const std::uint64_t inside = kBase + random_() % kSize;
    switch (random_() % 8) {
    case 0:
      return random_();
    case 1:
      return kBase + kSize - random_() % 16;
    case 2:
      return kBase - random_() % 16;
    default:
      return inside & ~std::uint64_t{7};
    }
  }

  void scatter(Hart &hart) {
    HartState &s = hart.state();
    for (unsigned i = 1; i < 32; ++i)
      s.x[i] = address();
    for (std::uint64_t &f : s.f)
      f = random_();
    s.pc = (kBase + random_() % kSize) & ~std::uint64_t{1};
    s.status = (random_() & 0xc6122) | status::kUxl | status::kSxl;
    s.satp = random_() % 2 == 0 ? 0
                                : satp::kSv39 << 60 | random_() % 3 << 44 |
                                      (kBase >> 12) + kSize / 8192 + random_() % 8;
    s.ie = random_() & 0x222;
    s.stvec = (kBase + random_() % kSize) & ~std::uint64_t{2};
    s.sepc = (kBase + random_() % kSize) & ~std::uint64_t{1};
    s.stimecmp = machine_->clock().ticks() + random_() % 20;
    s.privilege = random_() % 2 == 0 ? Privilege::user : Privilege::supervisor;
    s.activity = Activity::running;
    s.frm = random_() % 8;
    hart.changed();
  }

  static void check(const HartState &s) {
    ASSERT_EQ(s.x[0], 0U);
    ASSERT_EQ(s.pc & 1, 0U);
    ASSERT_LE(s.fflags, 31);
    ASSERT_LE(s.frm, 7);
    ASSERT_EQ(s.sepc & 1, 0U);
    ASSERT_LT(s.stvec & 3, 2U);
    ASSERT_TRUE(satp::mode(s.satp) == satp::kBare || satp::mode(s.satp) == satp::kSv39);
    ASSERT_EQ(s.status >> 32 & 15, 10U); // UXL and SXL
  }

  std::mt19937_64 random_;
  std::unique_ptr<BareMachine> machine_;
};

unsigned seeds() { return std::getenv("TANDEM_LONG") != nullptr ? 2'000 : 20; }

TEST(machine_fuzz, supervisor) {
  for (unsigned seed = 0; seed < seeds(); ++seed) {
    SCOPED_TRACE(seed);
    Fuzzer(seed, testing::Way::supervisor).run();
    if (HasFatalFailure())
      return;
  }
}

TEST(machine_fuzz, machine_mode) {
  for (unsigned seed = 0; seed < seeds() / 2; ++seed) {
    SCOPED_TRACE(seed);
    Fuzzer(seed, testing::Way::machine).run();
    if (HasFatalFailure())
      return;
  }
}

} // namespace
} // namespace tandem::machine
