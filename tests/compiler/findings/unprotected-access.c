// A location that a lock region writes and another thread reads without the lock.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int counter;
static int seen;
static void look(void) {
  seen = counter;
}
static void *count(void *unused) {
  pthread_mutex_lock(&lock);
  ++counter;
  pthread_mutex_unlock(&lock);
  return 0;
}
static void *report(void *unused) {
  look();
  return 0;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, count, 0);
  pthread_create(&thread, 0, report, 0);
  return 0;
}
// CHECK:[[#@LINE-18]]: 'counter' is read here outside all sections, and written in section 'count_1'
// CHECK-NEXT:  [[#@LINE-15]]: written here in section 'count_1'
// CHECK-NEXT:  [[#@LINE-11]]: 'report' calls 'look' here, outside all sections
// CHECK-NEXT:1 findings
