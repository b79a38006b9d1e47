// Wrappers that check, log, count, loop over a trylock, wait, work before they release, acquire on a condition, or are a
// loop: the regions are their callers', with the callers' locks, and nothing is left inside.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | grep -v unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t c = PTHREAD_COND_INITIALIZER;
static long n, next, acquired;
static void lock(pthread_mutex_t *m) {
  int error = pthread_mutex_lock(m);
  if (error != 0) {
    fprintf(stderr, "lock: %s\n", strerror(error));
    exit(1);
  }
  ++acquired;
}
static void unlock(pthread_mutex_t *m) {
  int error = pthread_mutex_unlock(m);
  if (error != 0)
    fprintf(stderr, "unlock: %s\n", strerror(error));
}
static void spin(pthread_mutex_t *m) {
  while (pthread_mutex_trylock(m) != 0)
    ;
}
static void await(pthread_cond_t *what, pthread_mutex_t *m) {
  if (pthread_cond_wait(what, m) != 0)
    abort();
}
static void finish(void) {
  ++next;
  pthread_mutex_unlock(&b);
}
static void lock_if(int threads, pthread_mutex_t *m) {
  if (threads > 1)
    lock(m);
}
static void unlock_if(int threads, pthread_mutex_t *m) {
  if (threads > 1)
    unlock(m);
}
#define WITH(m)                                                                                                        \
  for (unsigned i = 0; i ? (pthread_mutex_unlock(m), 0) : (pthread_mutex_lock(m), 1); i = 1)                           \
    for (unsigned j = 0; !j; j = 1)
static void checks(void) {
  lock(&a);
  ++n;
  unlock(&a);
}
static void spins(void) {
  spin(&b);
  ++n;
  unlock(&b);
}
static void waits(void) {
  lock(&a);
  while (n == 0)
    await(&c, &a);
  unlock(&a);
}
static void works(void) {
  lock(&b);
  ++n;
  finish();
}
static void may(int threads) {
  lock_if(threads, &a);
  ++n;
  unlock_if(threads, &a);
}
static void with(void) {
  WITH(&b) { ++n; }
  ++next;
}
int main(int argc, char **argv) {
  (void)argv;
  checks();
  spins();
  waits();
  works();
  may(argc);
  with();
  return 0;
}
// CHECK:section checks_1 lock-region line 49: mutex pthread-mutex a, 1 exits, same-function
// CHECK-NEXT:section spins_1 lock-region line 54: mutex pthread-mutex b, 1 exits, same-function
// CHECK-NEXT:section waits_1 lock-region line 59: mutex pthread-mutex a, 2 exits, same-function
// CHECK-NEXT:section waits_2 lock-region line 61: wait pthread-mutex a, 2 exits, same-function
// CHECK-NEXT:section works_1 lock-region line 65: mutex pthread-mutex b, 1 exits, same-function
// CHECK-NEXT:section may_1 lock-region line 70: mutex pthread-mutex a, 1 exits, flag-guarded
// CHECK-NEXT:section with_1 lock-region line 75: mutex pthread-mutex b, 1 exits, same-function
// CHECK-NEXT:site line 26 spin: trylock pthread-mutex *m: inside a wrapper of the operation: its callers are the sites
// CHECK-NEXT:site line 49 checks: lock pthread-mutex a: checks_1
// CHECK-NEXT:site line 54 spins: lock pthread-mutex b: spins_1
// CHECK-NEXT:site line 59 waits: lock pthread-mutex a: waits_1
// CHECK-NEXT:site line 61 waits: wait pthread-mutex a: waits_1 waits_2
// CHECK-NEXT:site line 65 works: lock pthread-mutex b: works_1
// CHECK-NEXT:site line 70 may: lock pthread-mutex a: may_1
// CHECK-NEXT:site line 75 with: lock pthread-mutex b: with_1
