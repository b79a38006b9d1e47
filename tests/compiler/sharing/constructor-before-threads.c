// What runs before main and before any thread runs beside nothing.
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
__attribute__((constructor)) static void begin(void) { theirs(); }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  pthread_join(thread, 0);
}
// CHECK: "name": "theirs{{(\(\))?}}"
// CHECK: "conflicts": []
