// A robust mutex is held where its lock says EOWNERDEAD: what runs there is in the region.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m;
static long n;
int enter(void) {
  if (pthread_mutex_lock(&m) == EOWNERDEAD) {
    pthread_mutex_consistent(&m);
    pthread_mutex_unlock(&m);
    return 1;
  }
  n++;
  pthread_mutex_unlock(&m);
  return 0;
}
int main(void) {
  pthread_mutexattr_t robust;
  pthread_mutexattr_init(&robust);
  pthread_mutexattr_setrobust(&robust, PTHREAD_MUTEX_ROBUST);
  pthread_mutex_init(&m, &robust);
  return enter();
}
// CHECK: "name": "enter_1"
// CHECK: "exits": 2
// CHECK-NEXT: "shape": "same-function"
