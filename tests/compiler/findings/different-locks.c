// Two threads write under locks that have nothing to do with each other, also by a function that is called with either.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json different-locks | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static long hits, total, safe;
static void add(void) { ++total; }
static void *one(void *unused) {
  pthread_mutex_lock(&a);
  ++hits;
  add();
  pthread_mutex_lock(&b);
  ++safe;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return unused;
}
static void *two(void *unused) {
  pthread_mutex_lock(&b);
  ++hits;
  add();
  ++safe;
  pthread_mutex_unlock(&b);
  return unused;
}
int main(void) {
  pthread_t first, second;
  pthread_create(&first, 0, one, 0);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return hits + total + safe > 6;
}
// CHECK:7: 'total' is written here with 'a' held, and written with 'b' held: they do not exclude each other
// CHECK-NEXT:  7: written here, by the thread that begins with 'two'
// CHECK-NEXT:  7: written here by the one that begins with 'one'
// CHECK-NEXT:10: 'hits' is written here with 'a' held, and written with 'b' held: they do not exclude each other
// CHECK-NEXT:  20: written here, by the thread that begins with 'two'
// CHECK-NEXT:  10: written here by the one that begins with 'one'
// CHECK-NEXT:2 findings
