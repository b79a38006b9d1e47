// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The walker against one that is written as the manual's algorithm reads, over random page tables.
#include "machine/mmu/walker.h"

#include "machine/mmu/tlb.h"

#include <gtest/gtest.h>
#include <random>

namespace tandem::machine {
namespace {

constexpr std::uint64_t kBase = 0x8000'0000;
constexpr std::uint64_t kSize = 64 * kPageBytes;

struct Expected {
  int fault = -1; // of scause
  std::uint64_t physical = 0;
  std::uint64_t entry_address = 0;
  std::uint64_t entry = 0; // as it is afterwards
};

struct Question {
  std::uint64_t satp, address;
  AccessKind kind;
  bool user, sum, mxr;
};

// The algorithm, step by step: privileged manual, "Virtual Address Translation Process".
Expected by_the_manual(const Memory &memory, const Question &q) {
  const int page = q.kind == AccessKind::load ? 13 : q.kind == AccessKind::store ? 15 : 12;
  const int access = q.kind == AccessKind::load ? 5 : q.kind == AccessKind::store ? 7 : 1;
  const Expected page_fault{.fault = page};
  const std::uint64_t top = q.address >> 38;
  if (top != 0 && top != 0x3ffffff)
    return page_fault;
  std::uint64_t a = (q.satp & 0xfffffffffff) * 4096;
  for (int i = 2; i >= 0; --i) {
    const std::uint64_t vpn = (q.address >> (12 + 9 * i)) % 512;
    std::uint64_t e = 0;
    if (!memory.read_value(a + vpn * 8, e))
      return {.fault = access};
    const bool v = e & 1, r = e & 2, w = e & 4, x = e & 8, u = e & 16, acc = e & 64,
               dirty = e & 128;
    if (!v || (!r && w) || e >> 54 != 0)
      return page_fault;
    const std::uint64_t ppn = e << 10 >> 20;
    if (!r && !x) {
      if (u || acc || dirty)
        return page_fault;
      a = ppn * 4096;
      continue;
    }
    const bool readable = r || (q.mxr && x);
    if (q.kind == AccessKind::load ? !readable : q.kind == AccessKind::store ? !w : !x)
      return page_fault;
    if (q.user ? !u : u && (q.kind == AccessKind::fetch || !q.sum))
      return page_fault;
    if (ppn % (std::uint64_t{1} << 9 * i) != 0)
      return page_fault;
    Expected done;
    done.entry_address = a + vpn * 8;
    done.entry = e | 64 | (q.kind == AccessKind::store ? 128 : 0);
    const std::uint64_t span = std::uint64_t{4096} << (9 * i);
    done.physical = ppn * 4096 + q.address % span;
    return done;
  }
  return page_fault;
}

// Entries that mostly lead somewhere.
std::uint64_t random_entry(std::mt19937_64 &random) {
  std::uint64_t flags = random() & 0xff;
  if (random() % 4 != 0)
    flags |= pte::kValid;
  if (random() % 3 == 0)
    flags = pte::kValid;                              // a pointer
  std::uint64_t page = (kBase >> 12) + random() % 66; // two of them outside
  if (random() % 8 == 0)
    page &= ~std::uint64_t{0x1ff};
  if (random() % 16 == 0)
    page = random() & 0xfffffffffff;
  const std::uint64_t high = random() % 16 == 0 ? std::uint64_t{1} << (54 + random() % 10) : 0;
  return high | page << 10 | flags;
}

TEST(machine_walker, agrees_with_the_manual_on_random_tables) {
  const unsigned seed = 20;
  std::mt19937_64 random(seed);
  auto memory = std::move(Memory::create(kBase, kSize)).value();
  unsigned found = 0;
  for (unsigned round = 0; round < 40; ++round) {
    for (std::uint64_t at = 0; at < kSize; at += 8)
      ASSERT_TRUE(memory->write_value(kBase + at, random_entry(random)));
    for (unsigned i = 0; i < 5000; ++i) {
      Question q{.satp = satp::kSv39 << 60 | random() % 7 << 44 | ((kBase >> 12) + random() % 65),
                 .address = random(),
                 .kind = AccessKind(random() % 3),
                 .user = random() % 2 == 0,
                 .sum = random() % 2 == 0,
                 .mxr = random() % 2 == 0};
      if (random() % 16 != 0) // canonical
        q.address = static_cast<std::uint64_t>(static_cast<std::int64_t>(q.address << 25) >> 25);
      const Expected expected = by_the_manual(*memory, q);
      const Translation got = translate(*memory, {q.satp, q.user, q.sum, q.mxr}, q.address, q.kind);
      const std::string where =
          fmt::format("seed {} round {} address {:#x} satp {:#x}", seed, round, q.address, q.satp);
      ASSERT_EQ(got.fault ? int(*got.fault) : -1, expected.fault) << where;
      if (got.fault)
        continue;
      ++found;
      ASSERT_EQ(got.physical, expected.physical) << where;
      ASSERT_EQ(got.leaf, expected.entry) << where;
      std::uint64_t entry = 0;
      ASSERT_TRUE(memory->read_value(expected.entry_address, entry));
      ASSERT_EQ(entry, expected.entry) << where;
    }
  }
  EXPECT_GT(found, 5000U);
}

// A walk whose entry changes before A or D is set reads it again.
TEST(machine_walker, starts_again_when_the_entry_changes) {
  const WalkContext context{.satp = satp::kSv39 << 60 | 1};
  Walk walk(context, 0, AccessKind::store);
  const std::uint64_t leaf = pte::kValid | pte::kRead | pte::kWrite | pte::kAccessed;
  walk.feed(leaf);
  ASSERT_EQ(walk.state(), Walk::State::wants_update);
  EXPECT_EQ(walk.updated(), leaf | pte::kDirty);
  walk.updated_done(false);
  ASSERT_EQ(walk.state(), Walk::State::wants_entry);
  walk.feed(0);
  EXPECT_EQ(walk.state(), Walk::State::page_fault);
}

TEST(machine_tlb, fences_cover_whole_leaves) {
  EXPECT_TRUE(fence_covers(0x1000, 1, 0x1000, 0));
  EXPECT_FALSE(fence_covers(0x1000, 1, 0x2000, 0));
  EXPECT_TRUE(fence_covers(0x1000, 0x1001, 0x2000, 0));
  EXPECT_TRUE(fence_covers(0x3ff000, 1, 0x200000, 1)); // the same 2 MiB
  EXPECT_FALSE(fence_covers(0x400000, 1, 0x200000, 1));
  EXPECT_TRUE(fence_covers(0x7fffffff, 1, 0x40000000, 2));
  EXPECT_TRUE(fence_covers(0, ~std::uint64_t{0}, 0xfffffffffffff000, 0));
  EXPECT_TRUE(fence_covers(0xffffffffffff0000, ~std::uint64_t{0}, 0xfffffffffffff000, 0));
  EXPECT_FALSE(fence_covers(0x1000, 0, 0x1000, 0));
}

TEST(machine_tlb, flushes_by_address_space) {
  Tlb tlb;
  const auto tag = [](std::uint64_t page, std::uint64_t slot) {
    return page << 12 | slot << context::kSpaceShift;
  };
  tlb.at(0x1000).read_tag = tag(1, 3);
  tlb.at(0x2000).write_tag = tag(2, 4);
  tlb.at(0x2000).physical = 0x8000'0000;
  tlb.flush(0, ~std::uint64_t{0}, 1U << 3);
  EXPECT_EQ(tlb.at(0x1000).read_tag, kNoTag);
  EXPECT_EQ(tlb.at(0x2000).write_tag, tag(2, 4));
  tlb.withdraw_write(0x8000'0000);
  EXPECT_EQ(tlb.at(0x2000).write_tag, kNoTag);
}

TEST(machine_tlb, slots_are_kept_until_they_run_out) {
  AddressSpaces spaces;
  bool flush = false;
  for (std::uint64_t satp = 0; satp < context::kSpaces; ++satp)
    EXPECT_EQ(spaces.slot(satp << satp::kAsidShift, flush), satp);
  EXPECT_EQ(spaces.slot(std::uint64_t{5} << satp::kAsidShift, flush), 5U);
  EXPECT_EQ(spaces.with_asid(5), std::uint64_t{1} << 5);
  EXPECT_FALSE(flush);
  EXPECT_EQ(spaces.slot(1, flush), 0U);
  EXPECT_TRUE(flush);
}

} // namespace
} // namespace tandem::machine
