// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sv39: permissions, A and D, shapes of tables, accesses across pages, address spaces.
#include "suite.h"

static const u32 load_word = 0x0005b503;  // ld a0, 0(a1)
static const u32 store_word = 0x00a5b023; // sd a0, 0(a1)

// An access by S or U (whose code is in the page at VIRTUAL + 0x1000).
static struct run access(int kind, u64 status, u64 address) {
  static const u32 *const words[] = {&load_word, &store_word};
  if (kind == 2)
    return run_at(address, status, 0, 0);
  if (status & SPP)
    return run_words(words[kind], 1, status, 0x77, address);
  u32 *code = (u32 *)frames[7];
  code[0] = *words[kind];
  code[1] = 0x00000073;
  asm volatile("fence.i" ::: "memory");
  return run_at(VIRTUAL + 0x1000, status, 0x77, address);
}

static const u64 modes[] = {SPP, SPP | SUM, SPP | MXR, SPP | SUM | MXR, 0, MXR};

static void user_code(void) {
  leaves[1] = entry(frames[7], PTE_V | PTE_R | PTE_X | PTE_U | PTE_A | PTE_D);
}

static void prepare_target(void) {
  u32 *target = (u32 *)frames[0];
  for (int i = 0; i < 1024; ++i)
    target[i] = 0x00100073; // ebreak
  asm volatile("fence.i" ::: "memory");
}

// Every combination of an entry's low bits.
void test_permissions(void) {
  map_on();
  prepare_target();
  user_code();
  for (u64 flags = 0; flags < 256; ++flags) {
    for (unsigned mode = 0; mode < 6; ++mode) {
      for (int kind = 0; kind < 3; ++kind) {
        leaves[0] = entry(frames[0], flags);
        FENCE();
        struct run run = access(kind, modes[mode], VIRTUAL);
        line("page", 5, flags, (u64)mode << 4 | (u64)kind, run.cause,
             run.cause == 3 ? 0 : run.value, leaves[0] & 0xff);
        *(u32 *)frames[0] = 0x00100073;
        *(u32 *)(frames[0] + 4) = 0x00100073;
      }
    }
  }
  map_off();
}

static void all_kinds(const char *name, u64 address) {
  for (int kind = 0; kind < 3; ++kind) {
    FENCE();
    struct run run = access(kind, SPP, address);
    line(name, 3, (u64)kind, run.cause, run.cause == 3 ? 0 : run.value);
    prepare_target();
  }
}

// Reserved bits, pointers, large pages, addresses that are no addresses.
void test_tables(void) {
  const u64 full = PTE_V | PTE_R | PTE_W | PTE_X | PTE_A | PTE_D;
  map_on();
  prepare_target();
  user_code();
  for (int bit = 54; bit < 64; ++bit) {
    leaves[0] = entry(frames[0], full) | 1UL << bit;
    all_kinds("reserved", VIRTUAL);
    leaves[0] = entry(frames[0], full);
    middle[0] = entry(leaves, PTE_V) | 1UL << bit;
    all_kinds("reserved above", VIRTUAL);
    middle[0] = entry(leaves, PTE_V);
  }
  for (u64 flags = 0; flags < 256; ++flags) {
    if (flags & (PTE_R | PTE_X))
      continue;
    middle[0] = entry(leaves, flags);
    leaves[0] = entry(frames[0], full);
    all_kinds("pointer", VIRTUAL);
    middle[0] = entry(leaves, PTE_V);
    leaves[0] = entry(frames[0], flags);
    all_kinds("pointer below", VIRTUAL);
  }
  // Large pages: aligned and not. The physical page must hold the frame at the same place.
  leaves[0] = 0;
  const u64 inside = (u64)frames[0] & 0x1fffff;
  middle[1] =
      (0x80200000UL + ((u64)frames[0] - 0x80200000UL) / 0x200000 * 0x200000) >> 12 << 10 | full;
  all_kinds("2 MiB", VIRTUAL + 0x200000 + inside);
  for (int bit = 10; bit < 19; bit += 4) {
    const u64 good = middle[1];
    middle[1] ^= 1UL << bit;
    all_kinds("2 MiB misaligned", VIRTUAL + 0x200000 + inside);
    middle[1] = good;
  }
  root[3] = 0x80000000UL >> 12 << 10 | full;
  all_kinds("1 GiB", 0xc0000000UL + ((u64)frames[0] - 0x80000000UL));
  root[3] ^= 1UL << 20;
  all_kinds("1 GiB misaligned", 0xc0000000UL + ((u64)frames[0] - 0x80000000UL));
  root[3] = 0;
  // The upper half, and what is in neither.
  root[511] = 0x80000000UL >> 12 << 10 | full;
  all_kinds("upper", 0xffffffffc0000000UL + ((u64)frames[0] - 0x80000000UL));
  all_kinds("not canonical", 0x0000004000000000UL);
  all_kinds("not canonical", 0x8000000040000000UL);
  all_kinds("not canonical", 0xffffffbfffffffffUL & ~7UL);
  // Tables and pages where nothing is.
  middle[2] = 0xc0000000UL >> 12 << 10 | PTE_V;
  all_kinds("no table", VIRTUAL + 0x400000);
  leaves[2] = 0xc0000000UL >> 12 << 10 | full;
  all_kinds("no page", VIRTUAL + 0x2000);
  leaves[2] = 1UL << 53 | full;
  all_kinds("far page", VIRTUAL + 0x2000);
  map_off();
}

// A page at VIRTUAL + 0x3000, with or without a good one behind.
static void crossing(const char *name, u64 second) {
  static const u32 loads[] = {0x00059503, 0x0005a503, 0x0005b503};
  static const u32 stores[] = {0x00a59023, 0x00a5a023, 0x00a5b023};
  leaves[3] = entry(frames[3], PTE_V | PTE_R | PTE_W | PTE_A | PTE_D);
  leaves[4] = second;
  FENCE();
  for (u64 back = 1; back < 8; ++back) {
    for (int i = 0; i < 3; ++i) {
      told(name, run_words(&loads[i], 1, SPP, 0, VIRTUAL + 0x4000 - back));
      u64 *end = (u64 *)(frames[3] + 4088);
      *end = 0x1111111111111111UL;
      *(u64 *)frames[4] = 0x2222222222222222UL;
      told(name, run_words(&stores[i], 1, SPP, 0xaabbccddeeff0099UL, VIRTUAL + 0x4000 - back));
      line(name, 2, *end, *(u64 *)frames[4]);
    }
  }
}

void test_pages(void) {
  map_on();
  const u64 good = entry(frames[4], PTE_V | PTE_R | PTE_W | PTE_A | PTE_D);
  crossing("both", good);
  crossing("second missing", 0);
  crossing("second read-only", good & ~PTE_W);
  crossing("second clean", good & ~(PTE_A | PTE_D));
  line("dirty", 1, leaves[4] & 0xff);
  crossing("second nowhere", 0xc0000000UL >> 12 << 10 | 0xc7);

  // An instruction that lies on two pages.
  const u64 run_flags = PTE_V | PTE_R | PTE_X | PTE_A;
  leaves[5] = entry(frames[5], run_flags);
  leaves[6] = entry(frames[6], run_flags);
  *(u16 *)(frames[5] + 4094) = 0x0513; // addi a0, a0, 1: its lower half
  *(u16 *)frames[6] = 0x0015;
  *(u32 *)(frames[6] + 2) = 0x00100073;
  FENCE();
  asm volatile("fence.i" ::: "memory");
  told("two pages", run_at(VIRTUAL + 0x5ffe, SPP, 1, 0));
  leaves[6] = 0;
  FENCE();
  told("second page missing", run_at(VIRTUAL + 0x5ffe, SPP, 1, 0));
  leaves[6] = entry(frames[6], PTE_V | PTE_R | PTE_A);
  FENCE();
  told("second page not for code", run_at(VIRTUAL + 0x5ffe, SPP, 1, 0));
  // Running over the end of a page.
  *(u32 *)(frames[5] + 4092) = 0x00150513;
  FENCE();
  asm volatile("fence.i" ::: "memory");
  told("over the end", run_at(VIRTUAL + 0x5ffc, SPP, 1, 0));

  // Two address spaces that differ in one page; a fence for one page, and for one space.
  leaves[0] = entry(frames[0], PTE_V | PTE_R | PTE_W | PTE_A | PTE_D);
  *(u64 *)frames[0] = 100;
  *(u64 *)frames[1] = 101;
  *(u64 *)frames[2] = 102;
  FENCE();
  told("space", run_words(&load_word, 1, SPP, 0, VIRTUAL));
  const u64 plain = READ(satp);
  WRITE(satp, plain | 7UL << 44);
  leaves[0] = entry(frames[1], PTE_V | PTE_R | PTE_A | PTE_D);
  asm volatile("sfence.vma zero, %0" ::"r"(7UL) : "memory");
  told("space 7", run_words(&load_word, 1, SPP, 0, VIRTUAL));
  leaves[0] = entry(frames[2], PTE_V | PTE_R | PTE_A | PTE_D);
  asm volatile("sfence.vma %0, zero" ::"r"(VIRTUAL) : "memory");
  told("page fenced", run_words(&load_word, 1, SPP, 0, VIRTUAL));
  told("now read-only", run_words(&store_word, 1, SPP, 0, VIRTUAL));
  WRITE(satp, plain);
  asm volatile("sfence.vma %0, %1" ::"r"(VIRTUAL), "r"(0UL) : "memory");
  told("space 0", run_words(&load_word, 1, SPP, 0, VIRTUAL));
  map_off();
}
