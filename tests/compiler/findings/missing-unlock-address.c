// A clean-up that releases unless the lock is at no address: it is, while it is held. Not one that asks for another address.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json missing-unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static int n;
static pthread_mutex_t *grab(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  return lock;
}
static void clean_up(pthread_mutex_t **lock) {
  if (*lock)
    pthread_mutex_unlock(*lock);
}
static void count(void) {
  __attribute__((cleanup(clean_up))) pthread_mutex_t *held = grab(&m);
  if (++n > 5)
    return;
  ++n;
}
static void forget(int *wanted) {
  pthread_mutex_lock(&other); // here
  ++n;
  if (wanted)
    pthread_mutex_unlock(&other);
}
static void *run(void *unused) {
  count();
  forget(unused);
  return unused;
}
#include "../Inputs/run-twice.h"
// CHECK:[[#@LINE-11]]: 'other' is acquired here, and 'forget' may return without releasing it
// CHECK-NEXT:  [[#@LINE-10]]: it is still held on this way to the end
// CHECK-NEXT:  [[#@LINE-10]]: it is released here on another way
// CHECK-NEXT:1 findings
