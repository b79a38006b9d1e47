// A region that every path ends where it began; two unlocks are two exits.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
int counter;
int main(int argc, char **argv) {
  pthread_mutex_lock(&lock);
  if (argc > 1) {
    counter = 1;
    pthread_mutex_unlock(&lock);
    return 1;
  }
  counter = 2;
  pthread_mutex_unlock(&lock);
  return 0;
}
// CHECK: "name": "main_1"
// CHECK-NEXT: "kind": "lock-region"
// CHECK: "line": 8
// CHECK: "lock": {
// CHECK-NEXT: "names": [
// CHECK-NEXT: "lock"
// CHECK-NEXT: ]
// CHECK-NEXT: "kind": "mutex"
// CHECK-NEXT: "primitive": "pthread-mutex"
// CHECK-NEXT: "exits": 2
// CHECK-NEXT: "shape": "same-function"
