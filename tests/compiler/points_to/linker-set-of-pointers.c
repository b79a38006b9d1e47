// The variables of a section may lead further.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
__attribute__((section("set"))) static long *const entry = &x;
extern long *const __start_set[], *const __stop_set[];
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) {
  for (long *const *at = __start_set; at < __stop_set; at++)
    ++**at;
}
static long *const *first(void) { return &entry; }
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  first();
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
