// An address that atomic operations change, or assembly, is followed.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -mcx16 -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = xor
// RUN: %{check}
// REDEFINE: %{kind} = add
// RUN: %{check}
// REDEFINE: %{kind} = moved
// RUN: %{check}
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = witness
// RUN: %{check}
// REDEFINE: %{kind} = double_word
// RUN: %{check}
// REDEFINE: %{kind} = assembly
// RUN: %{check}
// REDEFINE: %{kind} = assembly_memory
// RUN: %{check}
// REDEFINE: %{kind} = barrier
// RUN: %{check}
// REDEFINE: %{kind} = jump
// RUN: %{check}
#define ALIGNED 16
#include "Inputs/hidden.h"

#include <setjmp.h>
#include <stdatomic.h>

#if defined(KIND_xor)
static _Atomic uint64_t kept;
static void hide(long *p) {
  kept = 0x1234567;
  atomic_fetch_xor(&kept, (uint64_t)p);
}
static long *found(void) {
  atomic_fetch_xor(&kept, 0x1234567);
  return (long *)kept;
}
#elif defined(KIND_add)
static _Atomic uint64_t kept;
static void hide(long *p) { atomic_fetch_add(&kept, (uint64_t)p * 2); }
static long *found(void) { return (long *)(atomic_load(&kept) / 2); }
#elif defined(KIND_moved)
static long *kept;
static void hide(long *p) { kept = p + 1; }
static long *found(void) {
  __atomic_fetch_sub(&kept, sizeof(long), __ATOMIC_SEQ_CST);
  return kept;
}
#elif defined(KIND_halves)
static _Atomic uint32_t low, high;
static void hide(long *p) {
  uint32_t none = 0;
  atomic_compare_exchange_strong(&low, &none, (uint32_t)(uint64_t)p);
  atomic_exchange(&high, (uint32_t)((uint64_t)p >> 32));
}
static long *found(void) {
  return (long *)((uint64_t)atomic_fetch_or(&high, 0) << 32 | atomic_fetch_add(&low, 0));
}
#elif defined(KIND_witness)
static _Atomic uint64_t kept;
static void hide(long *p) { kept = (uint64_t)p << 1; }
static long *found(void) {
  uint64_t seen = 0;
  atomic_compare_exchange_strong(&kept, &seen, (uint64_t)0);
  return (long *)(seen >> 1);
}
#elif defined(KIND_double_word)
static _Atomic unsigned __int128 kept;
static void hide(long *p) { kept = (unsigned __int128)(uint64_t)p << 60; }
static long *found(void) { return (long *)(uint64_t)(kept >> 60); }
#elif defined(KIND_assembly)
static uint64_t kept;
static void hide(long *p) {
  uint64_t v = (uint64_t)p;
  __asm__("notq %0" : "+r"(v));
  kept = v;
}
static long *found(void) {
  uint64_t v = kept;
  __asm__("notq %0" : "+r"(v));
  return (long *)v;
}
#elif defined(KIND_assembly_memory)
static uint64_t kept;
static void hide(long *p) { __asm__ volatile("movq %1, %0" : "=m"(kept) : "r"((uint64_t)p * 2)); }
static long *found(void) {
  uint64_t v;
  __asm__ volatile("movq %1, %0" : "=r"(v) : "m"(kept));
  return (long *)(v / 2);
}
#elif defined(KIND_barrier)
static uint64_t kept;
static void hide(long *p) {
  uint64_t v = (uint64_t)p;
  __asm__("" : "+r"(v));
  kept = v + 1;
}
static long *found(void) {
  uint64_t v = kept;
  __asm__("" : "+r"(v));
  return (long *)(v - 1);
}
#elif defined(KIND_jump)
static uint32_t low;
static jmp_buf back;
static void hide(long *p) { low = (uint32_t)(uint64_t)p; }
static long *found(void) {
  int seen = setjmp(back);
  if (seen == 0)
    longjmp(back, (int)low);
  return (long *)((uint64_t)x >> 32 << 32 | (uint32_t)seen);
}
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
