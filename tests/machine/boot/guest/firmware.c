// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "guest.h"

struct answer firmware(u64 extension, u64 function, u64 x0, u64 x1, u64 x2) {
  register u64 a0 __asm__("a0") = x0;
  register u64 a1 __asm__("a1") = x1;
  register u64 a2 __asm__("a2") = x2;
  register u64 a6 __asm__("a6") = function;
  register u64 a7 __asm__("a7") = extension;
  __asm__ volatile("ecall" : "+r"(a0), "+r"(a1) : "r"(a2), "r"(a6), "r"(a7) : "memory");
  return (struct answer){(long)a0, (long)a1};
}

u64 now(void) {
  u64 value;
  __asm__ volatile("csrr %0, time" : "=r"(value));
  return value;
}

void sleep_until(u64 tick) {
  firmware(SBI_TIME, 0, tick, 0, 0);
  __asm__ volatile("csrs sie, %0" ::"r"(1 << 5));
  while (now() < tick)
    __asm__ volatile("wfi");
  firmware(SBI_TIME, 0, ~0UL, 0, 0);
}
