// A function that acquires a second lock is called with a common lock held and also without it: the common lock keeps
// only the first of these calls apart from the other order. With it held by all calls, nothing is found.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER, a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER, d = PTHREAD_MUTEX_INITIALIZER;
static int n;
static void add(void) {
  pthread_mutex_lock(&b);
  ++n;
  pthread_mutex_unlock(&b);
}
static void subtract(void) {
  pthread_mutex_lock(&d);
  --n;
  pthread_mutex_unlock(&d);
}
static void *guarded(void *unused) {
  pthread_mutex_lock(&gate);
  pthread_mutex_lock(&a);
  add();
  pthread_mutex_unlock(&a);
  pthread_mutex_lock(&c);
  subtract();
  pthread_mutex_unlock(&c);
  pthread_mutex_unlock(&gate);
  return 0;
}
static void *unguarded(void *unused) {
  pthread_mutex_lock(&a);
  add();
  pthread_mutex_unlock(&a);
  return 0;
}
static void *other_order(void *unused) {
  pthread_mutex_lock(&gate);
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&a);
  pthread_mutex_unlock(&a);
  pthread_mutex_unlock(&b);
  pthread_mutex_lock(&d);
  pthread_mutex_lock(&c);
  pthread_mutex_unlock(&c);
  pthread_mutex_unlock(&d);
  pthread_mutex_unlock(&gate);
  return 0;
}
int main(void) {
  pthread_t threads[3];
  pthread_create(&threads[0], 0, guarded, 0);
  pthread_create(&threads[1], 0, unguarded, 0);
  pthread_create(&threads[2], 0, other_order, 0);
  return 0;
}
// CHECK:10: 'a' and 'b' are acquired in different orders: threads that hold one each wait for each other for ever
// CHECK:1 findings
