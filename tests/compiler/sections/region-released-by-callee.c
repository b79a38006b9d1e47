// A callee that works and then releases its caller's lock is part of the region: it is put into its caller.
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
// CHECK-NEXT: "shape": "same-function"
