// A trylock does not wait, a lock that was released is not held, a lock around both orders keeps the threads apart, and one thread alone cannot deadlock.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static pthread_mutex_t d = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t e = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t f = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t g = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t outer = PTHREAD_MUTEX_INITIALIZER;
static void *tries(void *unused) {
  pthread_mutex_lock(&b);
  if (pthread_mutex_trylock(&a) == 0) {
    ++counter;
    pthread_mutex_unlock(&a);
  }
  pthread_mutex_unlock(&b);
  pthread_mutex_lock(&c);
  ++counter;
  pthread_mutex_unlock(&c);
  pthread_mutex_lock(&a);
  ++counter;
  pthread_mutex_unlock(&a);
  return 0;
}
static void *waits(void *unused) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  pthread_mutex_lock(&c);
  ++counter;
  pthread_mutex_unlock(&c);
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return 0;
}
static void *first(void *unused) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&d);
  pthread_mutex_lock(&e);
  ++counter;
  pthread_mutex_unlock(&e);
  pthread_mutex_unlock(&d);
  pthread_mutex_unlock(&outer);
  return 0;
}
static void *second(void *unused) {
  pthread_mutex_lock(&outer);
  pthread_mutex_lock(&e);
  pthread_mutex_lock(&d);
  ++counter;
  pthread_mutex_unlock(&d);
  pthread_mutex_unlock(&e);
  pthread_mutex_unlock(&outer);
  return 0;
}
static void *alone(void *unused) {
  pthread_mutex_lock(&f);
  pthread_mutex_lock(&g);
  ++counter;
  pthread_mutex_unlock(&g);
  pthread_mutex_unlock(&f);
  pthread_mutex_lock(&g);
  pthread_mutex_lock(&f);
  ++counter;
  pthread_mutex_unlock(&f);
  pthread_mutex_unlock(&g);
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, tries, 0);
  pthread_create(&thread, 0, waits, 0);
  pthread_create(&thread, 0, first, 0);
  pthread_create(&thread, 0, second, 0);
  pthread_create(&thread, 0, alone, 0);
  return 0;
}
// CHECK:0 findings
