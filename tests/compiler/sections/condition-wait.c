// A condition wait ends one region and begins another.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ready = PTHREAD_COND_INITIALIZER;
int flag;
int main(void) {
  pthread_mutex_lock(&lock);
  while (!flag)
    pthread_cond_wait(&ready, &lock);
  pthread_mutex_unlock(&lock);
  return 0;
}
// CHECK: "name": "main_1"
// CHECK: "line": 9
// CHECK: "kind": "mutex"
// CHECK-NEXT: "primitive": "pthread-mutex"
// CHECK-NEXT: "exits": 2
// CHECK: "name": "main_2"
// CHECK: "line": 11
// CHECK: "kind": "wait"
// CHECK-NEXT: "primitive": "pthread-mutex"
// CHECK-NEXT: "exits": 2
