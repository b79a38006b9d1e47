// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Control registers: what can be written, who may touch them.
#include "suite.h"

static const u64 patterns[] = {0, ~0UL, 0x5555555555555555UL, 0xaaaaaaaaaaaaaaaaUL, 1, 2, 3};

#define TRY(name, mask)                                                                            \
  do {                                                                                             \
    const u64 before_ = READ(name);                                                                \
    for (int i_ = 0; i_ < 7; ++i_) {                                                               \
      WRITE(name, patterns[i_]);                                                                   \
      const u64 after_ = READ(name) & (mask);                                                      \
      WRITE(name, before_);                                                                        \
      line(#name, 2, patterns[i_], after_);                                                        \
    }                                                                                              \
  } while (0)

// csrrw a0, number, a1 and its relatives.
static u32 csr_word(u32 number, u32 funct3, u32 rd, u32 rs1) {
  return number << 20 | rs1 << 15 | funct3 << 12 | rd << 7 | 0x73;
}

static void access(u32 number, u64 status) {
  for (u32 funct3 = 1; funct3 < 8; ++funct3) {
    if (funct3 == 4)
      continue;
    for (u32 rs1 = 0; rs1 < 2; ++rs1) {
      const u32 word = csr_word(number, funct3, 12, rs1 * 11);
      // Of read-only ones a bit is to be set: QEMU lets a write of no bits pass.
      struct run run = run_words(&word, 1, status, 0, number >> 10 == 3);
      line("access", 5, (u64)number, (u64)funct3, (u64)rs1, run.cause,
           run.cause == 3 ? 0 : run.value);
    }
  }
}

void test_registers(void) {
  WRITE(sstatus, FS_DIRTY);
  TRY(sscratch, ~0UL);
  TRY(sepc, ~1UL); // QEMU keeps bit 0, which the manual says is 0
  TRY(stval, ~0UL);
  TRY(sie, ~0UL);
  TRY(sip, ~0UL);
  TRY(scounteren, 7UL);
  TRY(stvec, ~0UL);
  TRY(0x14d, ~0UL);
  TRY(fflags, ~0UL);
  // sstatus, bit by bit; UXL stays 2, and SIE off.
  for (int bit = 0; bit < 63; ++bit) {
    if (bit == 1 || bit == 9 || bit == 10 || (bit >= 32 && bit < 34))
      continue;
    const u64 before = READ(sstatus);
    WRITE(sstatus, (before & ~FS_DIRTY) ^ 1UL << bit);
    const u64 after = READ(sstatus);
    WRITE(sstatus, before);
    line("sstatus", 2, (u64)bit, after);
  }
  // satp: modes that are neither bare nor Sv39 change nothing; 9 and 10 depend on the machine.
  for (u64 mode = 0; mode < 16; ++mode) {
    if (mode >= 8 && mode <= 10)
      continue;
    WRITE(satp, mode << 60);
    line("satp", 2, mode, READ(satp));
    WRITE(satp, 0);
  }
  map_on();
  for (u64 asid = 1; asid < 1UL << 16; asid <<= 3) {
    WRITE(satp, 8UL << 60 | asid << 44 | (u64)root >> 12);
    line("asid", 2, asid, READ(satp) >> 44);
  }
  map_off();
  // Who may: existing ones, read-only ones, one that nobody has. S, since code of U needs pages.
  const u32 numbers[] = {0x100, 0x104, 0x105, 0x106, 0x140, 0x141, 0x142, 0x143,
                         0x144, 0x001, 0x003, 0xc00, 0xc01, 0xc02, 0x300, 0x341,
                         0x7c0, 0x5c0, 0xf14, 0x800, 0x180, 0x14d};
  for (unsigned i = 0; i < sizeof numbers / sizeof *numbers; ++i) {
    if (numbers[i] == 0x105 || numbers[i] == 0x140 || numbers[i] == 0x100)
      continue; // the suite lives by these
    access(numbers[i], SPP | FS_DIRTY);
  }
  WRITE(sie, 0);
  WRITE(sip, 0);
  WRITE(satp, 0);
  WRITE(0x14d, ~0UL);
  access(0x001, SPP);
  access(0x003, SPP);
}
