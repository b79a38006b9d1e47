// A callee that releases its caller's lock ends the region, which so escapes its function.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
static void finish(int value) {
  counter = value;
  pthread_mutex_unlock(&lock);
}
int main(void) {
  pthread_mutex_lock(&lock);
  finish(3);
  return 0;
}
// CHECK: "name": "main_1"
// CHECK: "line": 12
// CHECK: "exits": 1
// CHECK-NEXT: "shape": "escapes"
