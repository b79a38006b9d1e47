// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Interrupts: who takes them, in which window, in which order; FS; code that changes.
#include "suite.h"

#define NOP 0x00000013
#define CSR(number, funct3, rs1) ((u32)(number) << 20 | (u32)(rs1) << 15 | (funct3) << 12 | 0x73)
#define CSRW_A0(number) CSR(number, 1, 10)
#define CSRS_A0(number) CSR(number, 2, 10)

// Words with a spin at their end: what happens happens before.
static struct run spin(const char *name, const u32 *words, int count, u64 status, u64 a0) {
  u32 copy[16];
  for (int i = 0; i < count; ++i)
    copy[i] = words[i];
  copy[count] = 0x0000006f; // j .
  struct run run = run_words(copy, count + 1, status, a0, 0);
  line(name, 5, run.cause, run.epc - run.pc, run.after & 0xc6122, run.vectored,
       run.pending & 0x222);
  WRITE(sie, 0);
  WRITE(sip, 0);
  WRITE(0x14d, ~0UL);
  return run;
}

void test_interrupts(void) {
  const u32 enable = CSR(0x100, 6, 2);       // csrsi sstatus, SIE
  const u32 ask[] = {CSRS_A0(0x144), NOP};   // csrs sip, a0
  const u32 allow[] = {CSRS_A0(0x104), NOP}; // csrs sie, a0
  // Pending and enabled, SIE set in the middle.
  const u32 middle[] = {NOP, NOP, enable, NOP, NOP};
  WRITE(sie, 2);
  WRITE(sip, 2);
  spin("SIE set", middle, 5, SPP, 0);
  WRITE(sie, 2);
  WRITE(sip, 2);
  spin("by sret", middle, 5, SPP | SPIE, 0);
  WRITE(sie, 2);
  spin("SSIP set", ask, 2, SPP | SPIE, 2);
  WRITE(sip, 2);
  spin("SSIE set", allow, 2, SPP | SPIE, 2);
  // A write to sstatus that enables and is the last before a jump.
  const u32 before_jump[] = {CSR(0x100, 6, 2), 0x0080006f, 0x00100073, 0x00100073};
  WRITE(sie, 2);
  WRITE(sip, 2);
  spin("before a jump", before_jump, 4, SPP, 0);
  // The timer: in the past, now, and while code runs.
  const u32 timer[] = {CSRW_A0(0x14d), NOP, NOP};
  WRITE(sie, 0x20);
  spin("timer", timer, 3, SPP | SPIE, 0);
  WRITE(sie, 0x22);
  WRITE(sip, 2);
  WRITE(0x14d, 0);
  spin("order", middle, 5, SPP, 0);
  WRITE(sie, 0x20);
  WRITE(sip, 2);
  WRITE(0x14d, 0);
  spin("only the timer", middle, 5, SPP, 0);
  const u32 nothing[] = {NOP};
  WRITE(sie, 0x20);
  WRITE(0x14d, READ(time) + 20);
  struct run run = run_words((const u32[]){NOP, 0xffdff06f}, 2, SPP | SPIE, 0, 0);
  line("while it spins", 2, run.cause, run.after & 0x122);
  WRITE(0x14d, ~0UL);
  // WFI goes on when something enabled is pending, whatever SIE; with an interrupt behind it.
  const u32 wait[] = {0x10500073, 0x00150513, 0x00100073}; // wfi; addi a0, a0, 1; ebreak
  WRITE(sie, 2);
  WRITE(sip, 2);
  run = run_words(wait, 3, SPP, 0, 0);
  line("wfi, pending", 3, run.cause, run.epc - run.pc, run.a[0]);
  WRITE(sip, 0);
  WRITE(sie, 0x20);
  WRITE(0x14d, READ(time) + 30);
  run = run_words(wait, 3, SPP, 0, 0);
  line("wfi, timer", 3, run.cause, run.epc - run.pc, run.a[0]);
  WRITE(0x14d, READ(time) + 30);
  run = run_words(wait, 3, SPP | SPIE, 0, 0);
  line("wfi, taken", 3, run.cause, run.epc - run.pc, run.a[0]);
  WRITE(0x14d, ~0UL);
  WRITE(sie, 0);
  // Vectored: interrupts go to their vectors, exceptions to the base.
  WRITE(stvec, READ(stvec) | 1);
  WRITE(sie, 2);
  WRITE(sip, 2);
  spin("vector", middle, 5, SPP | SPIE, 0);
  const u32 stop = 0x00100073;
  told("exception", run_words(&stop, 1, SPP | SPIE, 0, 0));
  WRITE(stvec, READ(stvec) & ~1UL);
  // From U they are taken whatever SIE.
  map_on();
  *(u32 *)frames[0] = 0x0000006f;
  leaves[0] = entry(frames[0], PTE_V | PTE_R | PTE_X | PTE_U | PTE_A);
  FENCE();
  asm volatile("fence.i" ::: "memory");
  WRITE(sie, 2);
  WRITE(sip, 2);
  run = run_at(VIRTUAL, 0, 0, 0);
  line("from U", 3, run.cause, run.epc, run.after & 0x122);
  WRITE(sie, 0);
  WRITE(sip, 0);
  map_off();
  // Masked ones stay pending.
  WRITE(sip, 2);
  run = run_words(nothing, 1, SPP | SPIE, 0, 0);
  line("masked", 2, run.cause, READ(sip) & 0x222);
  WRITE(sip, 0);
}

void test_floats(void) {
  static const u32 words[] = {
      0x02b57553, // fadd.d fa0, fa0, fa1
      0x0005b507, // fld fa0, 0(a1)
      0x00a5b027, // fsd fa0, 0(a1)
      0xe2050553, // fmv.x.d a0, fa0
      0xe2051553, // fclass.d a0, fa0
      0xa2b52553, // feq.d a0, fa0, fa1
      0x22b50553, // fsgnj.d fa0, fa0, fa1
      0xd2050553, // fcvt.d.w fa0, a0
      0xc2051553, // fcvt.w.d a0, fa0, rtz
      0x00102573, // csrr a0, fflags
      0x00151073, // csrw fflags, a0
      0x00205073, // csrwi frm, 0
      0x7ab57543, // fmadd.d fa0, fa0, fa1, fa5
      0x2100,     // c.fld fs0, 0(a0)
      0xa100,     // c.fsd fs0, 0(a0)
  };
  const u64 at = (u64)frames[0];
  for (unsigned i = 0; i < sizeof words / sizeof *words; ++i) {
    struct run run = run_words(&words[i], 1, SPP, at, at);
    line("off", 4, (u64)i, run.cause, run.cause == 3 ? 0 : run.value, run.after & FS_DIRTY);
    // An operation that only may have raised a flag, and a register that only was read: the manual
    // leaves open whether that is dirty.
    const int open = i == 2 || i == 3 || i == 4 || i == 5 || i == 8 || i == 9 || i == 14;
    run = run_words(&words[i], 1, SPP | FS_INITIAL, at, at);
    line("initial", 3, (u64)i, run.cause, open ? 0 : run.after & FS_DIRTY);
    run = run_words(&words[i], 1, SPP | FS_DIRTY, at, at);
    line("dirty", 3, (u64)i, run.cause, run.after & (FS_DIRTY | 1UL << 63));
  }
  // Reserved rounding modes: in the instruction, and in frm.
  for (u64 mode = 0; mode < 8; ++mode) {
    const u32 fixed = 0x02b50553 | (u32)mode << 12;
    struct run run = run_words(&fixed, 1, SPP | FS_DIRTY, 0, 0);
    line("rm", 3, mode, run.cause, run.cause == 3 ? 0 : run.value);
    const u32 dynamic[] = {(0x00255073 & ~(31U << 15)) | (u32)mode << 15, 0x02b57553, 0x00205073};
    run = run_words(dynamic, 3, SPP | FS_DIRTY, 0, 0);
    line("frm", 3, mode, run.cause, run.cause == 3 ? 0 : run.value);
    asm volatile("csrs sstatus, %0; fsrmi 0" ::"r"(FS_DIRTY));
  }
}

void test_code(void) {
  // Code that is written, in another page and in its own.
  u32 *code = (u32 *)frames[0];
  for (u32 round = 0; round < 200; ++round) {
    code[0] = 0x00050513 | (round & 0x7ff) << 20; // addi a0, a0, round
    code[1] = 0x00100073;
    asm volatile("fence.i" ::: "memory");
    struct run run = run_at((u64)code, SPP, 1000, 0);
    if (round % 20 == 0)
      line("written", 2, run.cause, run.a[0]);
  }
  static const u32 own[] = {
      0x00000597, // auipc a1, 0
      0x00a5a823, // sw a0, 16(a1)
      0x0000100f, // fence.i
      0x00100513, // addi a0, zero, 1
      0x00200513, // addi a0, zero, 2: overwritten
      0x00100073,
  };
  told("own page", run_words(own, 6, SPP, 0x00300513, 0));
  // The half of an instruction that its neighbour writes.
  static const u32 half[] = {
      0x00000597, 0x00a59923, // sh a0, 18(a1): the upper half of the word at 16
      0x0000100f, 0x00000013, 0x00200513, 0x00100073,
  };
  told("half", run_words(half, 6, SPP, 0x0070, 0));
  // Data in a page of code, many times.
  volatile u64 *data = (volatile u64 *)(frames[0] + 512);
  for (u32 round = 0; round < 300; ++round) {
    *data = round;
    struct run run = run_at((u64)code, SPP, *data, 0);
    if (round % 50 == 0)
      line("beside", 2, run.cause, run.a[0]);
  }
  // An atomic that writes code.
  static const u32 swap[] = {
      0x00000597, 0x01058593, // auipc a1, 0; addi a1, a1, 16
      0x08a5a52f,             // amoswap.w a0, a0, (a1)
      0x0000100f, 0x00200613, 0x00100073,
  };
  told("amo", run_words(swap, 6, SPP, 0x00900513, 0));
}
