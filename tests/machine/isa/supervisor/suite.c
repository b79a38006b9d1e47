// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "suite.h"

#include <stdarg.h>

u64 root[512] __attribute__((aligned(4096)));
u64 middle[512] __attribute__((aligned(4096)));
u64 leaves[512] __attribute__((aligned(4096)));
u8 frames[8][4096] __attribute__((aligned(4096)));
static u32 code[64] __attribute__((aligned(4096)));

void put(const char *text) {
  volatile u8 *uart = (volatile u8 *)0x10000000;
  for (; *text; ++text)
    *uart = *text;
}

void number(u64 value) {
  char text[20];
  char *at = text + 19;
  *at = 0;
  do
    *--at = "0123456789abcdef"[value & 15];
  while (value >>= 4);
  put(at);
}

void line(const char *name, int count, ...) {
  va_list values;
  va_start(values, count);
  put(name);
  for (int i = 0; i < count; ++i) {
    put(" ");
    number(va_arg(values, u64));
  }
  put("\n");
  va_end(values);
}

struct run run_at(u64 pc, u64 status, u64 a0, u64 a1) {
  struct run run = {.pc = pc, .status = status, .a = {a0, a1, 0, 0}};
  enter(&run);
  return run;
}

struct run run_words(const u32 *words, int count, u64 status, u64 a0, u64 a1) {
  for (int i = 0; i < count; ++i)
    code[i] = words[i];
  code[count] = 0x00100073; // ebreak
  asm volatile("fence.i" ::: "memory");
  return run_at((u64)code, status, a0, a1);
}

void told(const char *name, struct run run) {
  // An ebreak may give its address or nothing.
  const u64 value = run.cause == 3 ? 0 : run.value;
  const u64 where = run.epc - (run.pc & ~4095UL);
  line(name, 7, run.cause, value, where, run.a[0], run.a[1], run.after & 0xc6122, run.vectored);
}

void map_on(void) {
  for (int i = 0; i < 512; ++i)
    root[i] = middle[i] = leaves[i] = 0;
  root[0] = 0x00000000UL >> 12 << 10 | 0xc7; // devices: 1 GiB, RW
  root[2] = 0x80000000UL >> 12 << 10 | 0xcf; // memory: 1 GiB, RWX
  root[1] = entry(middle, PTE_V);
  middle[0] = entry(leaves, PTE_V);
  WRITE(satp, 8UL << 60 | (u64)root >> 12);
  FENCE();
}

void map_off(void) {
  WRITE(satp, 0);
  FENCE();
}

int main(void) {
  test_registers();
  test_illegal();
  test_exceptions();
  test_permissions();
  test_tables();
  test_pages();
  test_interrupts();
  test_floats();
  test_code();
  put("end\n");
  return 0;
}
