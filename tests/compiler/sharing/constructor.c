// What a constructor does beside a thread that it has started counts.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { x++; }
static void *run(void *unused) {
  mine();
  return unused;
}
__attribute__((constructor)) static void begin(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  theirs();
  pthread_join(thread, 0);
}
int main(void) {}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
