// A store through a pointer that was hidden in integers may write any field of the object. memcpy of the object copies the
// stored pointer, also where no other code accesses that field: by one memcpy, and by a chain of them in reverse order.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = copy
// RUN: %{check}
// REDEFINE: %{kind} = chain
// RUN: %{check}
#include <pthread.h>
#include <stdint.h>
#include <string.h>
struct record {
  long *place;
  long *unused;
};
static struct record from, to;
static long x;
static volatile uint32_t halves[2];
__attribute__((noinline)) static void hide(void) {
  const uint64_t address = (uint64_t)&from;
  halves[0] = (uint32_t)address;
  halves[1] = (uint32_t)(address >> 32);
}
__attribute__((noinline)) static void put(void) {
  *(long **)(halves[0] | (uint64_t)halves[1] << 32) = &x;
}
#if defined(KIND_copy)
__attribute__((noinline)) static void take(void) { memcpy(&to, &from, sizeof to); }
#else
static struct record between[2];
__attribute__((noinline)) static void take(void) {
  for (int i = 0; i < 3; ++i) {
    memcpy(&to, &between[1], sizeof to);
    memcpy(&between[1], &between[0], sizeof to);
    memcpy(&between[0], &from, sizeof to);
  }
}
#endif
__attribute__((atomic, noinline)) void mine(void) { x += 1; }
__attribute__((atomic, noinline)) void theirs(void) { *to.place += 1; }
static void *run(void *unused) {
  mine();
  theirs();
  return unused;
}
int main(void) {
  pthread_t thread;
  hide();
  put();
  take();
  pthread_create(&thread, 0, run, 0);
  run(0);
  pthread_join(thread, 0);
}
// CHECK: edge mine theirs
