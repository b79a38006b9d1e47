// Hand over hand: the first lock is released while the second, taken inside, is still held.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
int counter;
int main(void) {
  pthread_mutex_lock(&first);
  pthread_mutex_lock(&second);
  pthread_mutex_unlock(&first);
  ++counter;
  pthread_mutex_unlock(&second);
  return 0;
}
// CHECK: "name": "main_1"
// CHECK: "names": [
// CHECK-NEXT: "first"
// CHECK: "shape": "not-nested"
// CHECK: "name": "main_2"
// CHECK: "names": [
// CHECK-NEXT: "second"
// CHECK: "shape": "same-function"
