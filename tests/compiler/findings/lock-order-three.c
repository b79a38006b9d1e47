// Three locks, each pair in one order, that go round.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static void *one(void *unused) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  ++counter;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return 0;
}
static void *two(void *unused) {
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&c);
  ++counter;
  pthread_mutex_unlock(&c);
  pthread_mutex_unlock(&b);
  return 0;
}
static void *three(void *unused) {
  pthread_mutex_lock(&c);
  pthread_mutex_lock(&a);
  ++counter;
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&c);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, one, 0);
  pthread_create(&thread, 0, two, 0);
  pthread_create(&thread, 0, three, 0);
  return 0;
}
// CHECK:[[#@LINE-29]]: 'a', 'b' and 'c' are acquired in different orders: threads that hold one each wait for each other for ever
// CHECK-NEXT:  [[#@LINE-31]]: 'a' is acquired here, in 'one'
// CHECK-NEXT:  [[#@LINE-31]]: 'b' is acquired here while 'a' is held
// CHECK-NEXT:  [[#@LINE-25]]: 'b' is acquired here, in 'two'
// CHECK-NEXT:  [[#@LINE-25]]: 'c' is acquired here while 'b' is held
// CHECK-NEXT:  [[#@LINE-19]]: 'c' is acquired here, in 'three'
// CHECK-NEXT:  [[#@LINE-19]]: 'a' is acquired here while 'c' is held
// CHECK-NEXT:1 findings
