// Objects of two allocations do not conflict; nor do two fields of one.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
struct pair {
  long first, second;
};
static struct pair *left, *right;
__attribute__((atomic)) void one(void) { left->first = 1; }
__attribute__((atomic)) void two(void) { left->second = 1; }
__attribute__((atomic)) void three(void) { right->first = 1; }
static void *run(void *unused) {
  (void)unused;
  one();
  two();
  three();
  return 0;
}
int main(void) {
  left = malloc(sizeof *left);
  right = malloc(sizeof *right);
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "one"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "one"
// CHECK-NEXT: "on": [
// CHECK-NEXT: "left->first"
// CHECK-NEXT: ]
// CHECK-NEXT: }
// CHECK-NEXT: ]
// CHECK: "name": "three"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "three"
