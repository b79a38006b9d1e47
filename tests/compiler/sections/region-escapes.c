// A region whose lock is still held when its function returns, which is only called by pointer.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
int enter(void) {
  pthread_mutex_lock(&lock);
  return ++counter;
}
int (*volatile entering)(void) = enter;
int main(void) {
  entering();
  pthread_mutex_unlock(&lock);
  return 0;
}
// CHECK: "name": "enter_1"
// CHECK: "exits": 0
// CHECK-NEXT: "shape": "escapes"
// CHECK: "reason": "enter does not release it, and it is only called by pointer"
