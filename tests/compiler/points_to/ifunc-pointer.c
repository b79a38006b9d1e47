// The address of an IFUNC is that of what its resolver returns.
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
static void chosen(void) { theirs(); }
static void (*choose(void))(void) { return chosen; }
static void through(void) __attribute__((ifunc("choose")));
static void (*volatile pointer)(void) = through;
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pointer();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
