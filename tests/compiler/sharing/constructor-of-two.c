// Constructors run in an order that is not relied on: one of them may run beside the thread that
// another has started.
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
static pthread_t thread;
__attribute__((constructor)) static void first(void) { theirs(); }
__attribute__((constructor)) static void second(void) { pthread_create(&thread, 0, run, 0); }
int main(void) { pthread_join(thread, 0); }
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
