// Functions that .fini_array leads to are run by the system, after main.
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
static void end(void) { theirs(); }
__attribute__((section(".fini_array.00200"), used)) static void (*at_end[2])(void) = {0, end};
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
