// Two locks that two threads acquire in different orders, one of them by way of a call.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void inner(void) {
  pthread_mutex_lock(&b);
  ++counter;
  pthread_mutex_unlock(&b);
}
static void *one(void *unused) {
  pthread_mutex_lock(&a);
  inner();
  pthread_mutex_unlock(&a);
  return 0;
}
static void *other(void *unused) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  --counter;
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  return 0;
}
#include "Inputs/one-and-other.h"
// CHECK:[[#@LINE-19]]: 'a' and 'b' are acquired in different orders: threads that hold one each wait for each other for ever
// CHECK-NEXT:  [[#@LINE-15]]: 'a' is acquired here, in 'one'
// CHECK-NEXT:  [[#@LINE-15]]: 'one' calls 'inner' here
// CHECK-NEXT:  [[#@LINE-22]]: 'b' is acquired here while 'a' is held
// CHECK-NEXT:  [[#@LINE-12]]: 'b' is acquired here, in 'other'
// CHECK-NEXT:  [[#@LINE-12]]: 'a' is acquired here while 'b' is held
// CHECK-NEXT:1 findings
