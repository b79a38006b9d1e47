// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a program can tell the machine that simulates it (tandem machine exec): which part is to be
// measured, and how. Each is one instruction, `slti x0, x0, number`, which the RISC-V manual sets
// aside for such use: it does nothing on any other machine. On other processors there is no code.
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

#endif
