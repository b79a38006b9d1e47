// Assembly within a function knows what it names.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { __asm__ volatile("lock incq x(%%rip)" ::: "memory"); }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
