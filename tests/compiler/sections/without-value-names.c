// What the compiler itself stores to know where to go on is followed also where it has no names, as in what tandem-cc links.
// RUN: %cc -fdiscard-value-names %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;
static void spin_then_lock(pthread_mutex_t *lock) {
  for (int i = 0; i < 100; i++)
    if (pthread_mutex_trylock(lock) == 0)
      return;
  pthread_mutex_lock(lock);
}
int main(void) {
  spin_then_lock(&m);
  // CHECK-DAG: section main_{{[12]}} lock-region line [[#@LINE-1]]: trylock pthread-mutex m, 1 exits, {{same-function|flag-guarded}}
  // CHECK-DAG: section main_{{[12]}} lock-region line [[#@LINE-2]]: mutex pthread-mutex m, 1 exits, {{same-function|flag-guarded}}
  ++n;
  pthread_mutex_unlock(&m);
  return 0;
}
