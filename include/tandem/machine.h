// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program can say to the machine that simulates it (tandem machine exec): which part is to
// be measured, and how; and that machine's transactions.
//
// Of the former each is one instruction, `slti x0, x0, number`, which the RISC-V manual sets aside
// for such use: it does nothing on any other machine. On other processors there is no code.
#ifndef TANDEM_MACHINE_H
#define TANDEM_MACHINE_H

// `number`: a constant from 1 to 2047.
#if defined(__riscv)
#define TANDEM_MACHINE_HINT(number) __asm__ volatile("slti x0, x0, %0" : : "i"(number) : "memory")
#else
#define TANDEM_MACHINE_HINT(number) ((void)0)
#endif

// From here on: no caches, and a cycle an instruction; through caches and tables without the time
// of messages; with time. Only where a protocol was given (--protocol).
#define TANDEM_MACHINE_FUNCTIONAL() TANDEM_MACHINE_HINT(1)
#define TANDEM_MACHINE_WARMING() TANDEM_MACHINE_HINT(2)
#define TANDEM_MACHINE_TIMING() TANDEM_MACHINE_HINT(3)

// Begin and end of the region `number`, a constant from 0 to 255, whose counts are given by itself.
// Regions may overlap, and be entered again. They are the machine's: of several threads one says
// them.
#define TANDEM_MACHINE_BEGIN(number) TANDEM_MACHINE_HINT(0x100 + (number))
#define TANDEM_MACHINE_END(number) TANDEM_MACHINE_HINT(0x200 + (number))

// Hardware transactions (docs/machine/metatm.md). The instructions are of an opcode that the RISC-V
// manual sets aside for custom use: on another machine they are illegal, so the program has to know
// where it runs. On other processors there are none: begin says that the section must use its lock.
// Each is for the thread that calls it.
enum {
  TANDEM_TX_CONFLICT = 1, // why an attempt was undone
  TANDEM_TX_ABORTED = 2,  // by tandem_xabort; codes from 16 on are the program's own
  TANDEM_TX_IO = 3,       // a load or store outside of main memory
  TANDEM_TX_CALL = 4,     // ecall, wfi
  TANDEM_TX_CSR = 5,      // a write of a control register that no abort could restore
  TANDEM_TX_LIMIT = 6,    // as many restarts as the control register stxlimit allows
  TANDEM_TX_RECALL = 7,   // a line was taken away
  TANDEM_TX_TRAP = 8,     // a trap from user mode: a page fault, the end of a time slice
  TANDEM_TX_OWN = 16      // the first of the program's own codes
};

#define TANDEM_MACHINE_INLINE static __inline__ __attribute__((always_inline))

// Begins a transaction, or one more level of the one that runs. 0: it runs, for the first time.
// Above 0: it runs again, since an attempt was undone: restarts << 8 | why. Below 0: it does not
// run, -why: the section must take its lock.
TANDEM_MACHINE_INLINE long tandem_xbegin(void) {
#if defined(__riscv)
  long status;
  __asm__ volatile(".insn i 0x0b, 0, %0, x0, 0" : "=r"(status) : : "memory");
  return status;
#else
  return -TANDEM_TX_LIMIT;
#endif
}

// The same, and what is counted of it is counted as `place`'s: an address in the program, or a
// struct tandem_section (tandem/abi.h). Null: the place of the instruction.
TANDEM_MACHINE_INLINE long tandem_xbegin_at(const void *place) {
#if defined(__riscv)
  long status;
  __asm__ volatile(".insn i 0x0b, 0, %0, %1, 0" : "=r"(status) : "r"(place) : "memory");
  return status;
#else
  (void)place;
  return -TANDEM_TX_LIMIT;
#endif
}

// Ends a level; the outermost commits. Outside of a transaction it is an illegal instruction.
TANDEM_MACHINE_INLINE void tandem_xend(void) {
#if defined(__riscv)
  __asm__ volatile(".insn i 0x0b, 1, x0, x0, 0" : : : "memory");
#endif
}

// Undoes all levels; xbegin answers again. `code`: 16 to 255; others are TANDEM_TX_ABORTED. Outside
// it does nothing.
TANDEM_MACHINE_INLINE void tandem_xabort(long code) {
#if defined(__riscv)
  __asm__ volatile(".insn i 0x0b, 2, x0, %0, 0" : : "r"(code) : "memory");
#else
  (void)code;
#endif
}

// Suspends what runs; its handle, 0 if nothing does.
TANDEM_MACHINE_INLINE long tandem_xpush(void) {
#if defined(__riscv)
  long handle;
  __asm__ volatile(".insn i 0x0b, 3, %0, x0, 0" : "=r"(handle) : : "memory");
  return handle;
#else
  return 0;
#endif
}

// Goes on with what has this handle, or restarts it; 0: nothing. An illegal instruction while
// another transaction runs, or if there is none of that handle.
TANDEM_MACHINE_INLINE void tandem_xpop(long handle) {
#if defined(__riscv)
  __asm__ volatile(".insn i 0x0b, 4, x0, %0, 0" : : "r"(handle) : "memory");
#else
  (void)handle;
#endif
}

// Levels of the transaction that runs; 0: none.
TANDEM_MACHINE_INLINE long tandem_xtest(void) {
#if defined(__riscv)
  long depth;
  __asm__ volatile(".insn i 0x0b, 5, %0, x0, 0" : "=r"(depth) : : "memory");
  return depth;
#else
  return 0;
#endif
}

// Undoes and forgets what has this handle; 0: nothing.
TANDEM_MACHINE_INLINE void tandem_xdrop(long handle) {
#if defined(__riscv)
  __asm__ volatile(".insn i 0x0b, 6, x0, %0, 0" : : "r"(handle) : "memory");
#else
  (void)handle;
#endif
}

#endif
