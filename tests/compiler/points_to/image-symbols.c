// From symbols that the linker defines a program comes to all of its data.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static long x;
extern char __data_start[], _end[];
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) {
  for (char *at = __data_start; at < _end; at++)
    *at = 0;
}
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
