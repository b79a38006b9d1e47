// An address that the program gets as a number may be of any memory that code outside knows.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static int *mapped(void) { return (int *)0x700000000000; }
__attribute__((atomic)) void tick(void) { ++*mapped(); }
static void *run(void *unused) {
  tick();
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK: "name": "tick"
// CHECK: "conflicts": [
// CHECK: "with": "tick"
