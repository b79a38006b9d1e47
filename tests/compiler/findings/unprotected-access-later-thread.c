// What main does before the thread with the section starts is not beside it, although another thread runs.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter, ticks;
static void *tick(void *unused) {
  pthread_mutex_lock(&lock);
  ++ticks;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void *count(void *unused) {
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void prepare(void) { counter = 7; }
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, tick, 0);
  prepare();
  pthread_create(&thread, 0, count, 0);
  return 0;
}
// CHECK:0 findings
