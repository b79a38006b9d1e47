// A call by pointer runs what was stored there, and nothing else of that type.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static int a, b;
static void set_a(void) { a = 1; }
static void set_b(void) { b = 1; }
static void (*action)(void) = set_a;
static void (*other)(void) = set_b;
__attribute__((atomic)) void act(void) { action(); }
__attribute__((atomic)) void act_other(void) { other(); }
static void *run(void *unused) {
  (void)unused;
  act();
  act_other();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "act"
// CHECK: "writes": [
// CHECK-NEXT: "a"
// CHECK-NEXT: ]
// CHECK: "name": "act_other"
// CHECK: "writes": [
// CHECK-NEXT: "b"
// CHECK-NEXT: ]
