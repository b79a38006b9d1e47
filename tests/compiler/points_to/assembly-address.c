// Assembly that is given a pointer and returns an integer may return the address: at once made a pointer again, after
// an offset was added, as kernels find their variables of a processor, kept in memory, in two halves, by one
// statement or two, or in a floating register.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = nothing
// RUN: %{check}
// REDEFINE: %{kind} = moved
// RUN: %{check}
// REDEFINE: %{kind} = kept
// RUN: %{check}
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = two_results
// RUN: %{check}
// REDEFINE: %{kind} = floating
// RUN: %{check}
#include <pthread.h>
static long x[4];
static volatile unsigned long offset;
#if defined(KIND_halves)
static unsigned halves[2];
static void make(void) {
  __asm__("mov %k1, %0" : "=r"(halves[0]) : "r"(x));
  __asm__("mov %1, %q0\n\tshr $32, %q0" : "=r"(halves[1]) : "r"(x));
}
static long *place(void) { return (long *)(halves[0] | (unsigned long)halves[1] << 32); }
#elif defined(KIND_two_results)
static void make(void) {}
static long *place(void) {
  unsigned low, high;
  __asm__("mov %2, %q1\n\tmov %k1, %0\n\tshr $32, %q1" : "=&r"(low), "=&r"(high) : "r"(x));
  return (long *)(low | (unsigned long)high << 32);
}
#elif defined(KIND_floating)
static void make(void) {}
static long *place(void) {
  double held;
  unsigned long at;
  __asm__("movq %1, %0" : "=x"(held) : "r"(x));
  __builtin_memcpy(&at, &held, sizeof at);
  return (long *)(at + offset);
}
#elif defined(KIND_kept)
static unsigned long kept;
static void make(void) { __asm__("" : "=r"(kept) : "0"(x)); }
static long *place(void) { return (long *)(kept + offset); }
#else
#if defined(KIND_nothing)
#define TEXT ""
#else
#define TEXT "mov %1, %0"
#endif
static void make(void) {}
static long *place(void) {
  unsigned long at;
  __asm__(TEXT : "=r"(at) : "0"(x));
  return (long *)(at + offset);
}
#endif
__attribute__((atomic)) void mine(void) { x[2]++; }
__attribute__((atomic)) void theirs(void) { ++*place(); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  pthread_t thread;
  make();
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: edge mine theirs
