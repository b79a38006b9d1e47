// A lock that is acquired while it is held.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void inner(void) {
  pthread_mutex_lock(&a);
  ++counter;
  pthread_mutex_unlock(&a);
}
static void *one(void *unused) {
  pthread_mutex_lock(&a);
  inner();
  pthread_mutex_unlock(&a);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, one, 0);
  pthread_create(&thread, 0, one, 0);
  return 0;
}
// CHECK:[[#@LINE-16]]: 'a' is acquired while it is held: unless the lock is recursive, the thread waits for itself for ever
// CHECK-NEXT:  [[#@LINE-12]]: 'a' is acquired here, in 'one'
// CHECK-NEXT:  [[#@LINE-12]]: 'one' calls 'inner' here
// CHECK-NEXT:  [[#@LINE-19]]: 'a' is acquired here while 'a' is held
// CHECK-NEXT:1 findings
