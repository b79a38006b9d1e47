// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Exceptions of single instructions, in S and in U.
#include "suite.h"

// A page of U at VIRTUAL, with these words.
static struct run run_user(const u32 *words, int count, u64 status, u64 a0) {
  u32 *to = (u32 *)frames[0];
  for (int i = 0; i < count; ++i)
    to[i] = words[i];
  to[count] = 0x00000073; // ecall
  leaves[0] = entry(frames[0], PTE_V | PTE_R | PTE_W | PTE_X | PTE_U | PTE_A | PTE_D);
  FENCE();
  asm volatile("fence.i" ::: "memory");
  return run_at(VIRTUAL, status, a0, 0);
}

void test_illegal(void) {
  static const u32 words[] = {
      0x00000000, 0xffffffff, 0x0000000b, 0x0000002b, 0x30200073, 0x00200073, 0x10200073,
      0x10500073, 0x12000073, 0x7b200073, 0x02c5f553, 0x02c5d553, 0x0000707f, 0x00002063,
      0x00003063, 0x00007003, 0x00004023, 0x2820a02f, 0x1420a02f, 0x00001067, 0xfff0102f,
      0x40001013, 0x04001013, 0x0200101b, 0x04000033, 0x80000033, 0x02000053, 0x04000053,
      0xd2b58553, 0x58158553, 0x9002,     0x8002,     0x6101,     0x6001,     0x2001,
      0x0004,     0x4002,     0x6002,     0x9c41,     0x9c61,     0x8000,     0x12000073 | 5 << 15,
      0x16000073, 0x18000073, 0x22000073, 0x62000073,
  };
  map_on();
  for (unsigned i = 0; i < sizeof words / sizeof *words; ++i) {
    // Those that S may run are run in U only.
    const u32 word = words[i];
    const int privileged = word == 0x10200073 || word == 0x10500073 || word >> 25 == 0x09;
    if (!privileged && (word & 0xffff) != 0x9002) {
      struct run run = run_words(&word, 1, SPP | FS_DIRTY, (u64)frames[2], 0);
      line("S", 4, (u64)word, run.cause, run.cause == 3 ? 0 : run.value, run.epc - run.pc);
    }
    struct run run = run_user(&word, 1, FS_DIRTY, VIRTUAL + 1024);
    line("U", 4, (u64)word, run.cause, run.cause == 3 ? 0 : run.value, run.epc - run.pc);
  }
  // Registers of S, from U; counters as scounteren says.
  static const u32 numbers[] = {0x100, 0x104, 0x180, 0x14d, 0x001, 0xc00, 0xc01, 0xc02};
  for (u64 enabled = 0; enabled < 8; ++enabled) {
    WRITE(scounteren, enabled);
    for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
      const u32 word = numbers[i] << 20 | 0x2073 | 10 << 7; // csrr a0
      struct run run = run_user(&word, 1, FS_DIRTY, 0);
      line("counter", 4, enabled, (u64)numbers[i], run.cause, run.cause == 8 ? 0 : run.value);
    }
  }
  map_off();
}

static void atomics(u64 address) {
  static const u32 words[] = {
      0x1005a52f,                         // lr.w a0, (a1)
      0x1005b52f,                         // lr.d
      0x18c5a52f,                         // sc.w a0, a2, (a1)
      0x18c5b52f, 0x00c5a52f, 0x00c5b52f, // amoadd
      0x08c5a52f, 0x08c5b52f,             // amoswap
  };
  for (unsigned i = 0; i < sizeof words / sizeof *words; ++i) {
    struct run run = run_words(&words[i], 1, SPP, 0, address);
    line("atomic", 4, (u64)i, run.cause, run.cause == 3 ? 0 : run.value - address,
         run.epc - run.pc);
  }
}

void test_exceptions(void) {
  u64 *data = (u64 *)frames[1];
  for (int i = 0; i < 64; ++i)
    data[i] = 0x0123456789abcdefUL * (u64)(i + 1);
  for (u64 offset = 0; offset < 8; ++offset)
    atomics((u64)frames[1] + offset);
  atomics(0xc0000000UL); // nothing is there
  // Loads and stores of all sizes and offsets, also across a block and a page.
  static const u32 loads[] = {0x00058503, 0x00059503, 0x0005a503, 0x0005b503,
                              0x0005c503, 0x0005d503, 0x0005e503};
  static const u32 stores[] = {0x00a58023, 0x00a59023, 0x00a5a023, 0x00a5b023};
  for (u64 offset = 0; offset < 16; ++offset)
    for (unsigned i = 0; i < 7; ++i)
      told("load", run_words(&loads[i], 1, SPP, 0, (u64)frames[1] + 56 + offset));
  for (u64 offset = 0; offset < 16; ++offset) {
    for (unsigned i = 0; i < 4; ++i) {
      u64 *at = (u64 *)(frames[2] + 4080);
      at[0] = at[1] = at[2] = at[3] = 0;
      run_words(&stores[i], 1, SPP, 0x1122334455667788UL, (u64)at + offset);
      line("store", 4, at[0], at[1], at[2], at[3]);
    }
  }
  for (unsigned i = 0; i < 7; ++i)
    told("load nowhere", run_words(&loads[i], 1, SPP, 1, 0xc0000000UL));
  for (unsigned i = 0; i < 4; ++i)
    told("store nowhere", run_words(&stores[i], 1, SPP, 1, 0xc0000000UL));
  struct run run = run_at(0xc0000000UL, SPP, 0, 0);
  line("fetch nowhere", 3, run.cause, run.value, run.epc);
  // Jumps to odd addresses go to even ones.
  static const u32 jump[] = {0x00158567, 0x00100073, 0x00100073}; // jalr a0, 1(a1)
  run = run_words(jump, 3, SPP, 0, 0);
  line("jump", 3, run.cause, run.value, run.epc);
  map_on();
  const u32 nothing = 0x00000013;
  told("ecall", run_user(&nothing, 1, 0, 5));
  told("ecall with interrupts", run_user(&nothing, 1, SPIE, 5));
  const u32 stop = 0x00100073;
  told("ebreak", run_user(&stop, 1, SPIE, 5));
  map_off();
}
