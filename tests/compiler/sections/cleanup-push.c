// pthread_cleanup_push keeps what it calls, and with what, in variables of its own.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;
static void release(void *lock) { pthread_mutex_unlock(lock); }
static void add(long x) {
  pthread_mutex_lock(&m);
  // CHECK: section add_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, {{[12]}} exits, {{same-function|flag-guarded}}
  pthread_cleanup_push(release, &m);
  n += x;
  pthread_cleanup_pop(1);
}
int main(void) {
  add(1);
  return 0;
}
