// A handler that waits for a lock of other code; a trylock does not wait, and a lock of the handler's own is nobody's.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json lock-in-handler | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <signal.h>
static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER, tried = PTHREAD_MUTEX_INITIALIZER, own = PTHREAD_MUTEX_INITIALIZER;
static int n, k;
static void note(void) {
  pthread_mutex_lock(&waited);
  ++n;
  pthread_mutex_unlock(&waited);
}
static void handler(int number) {
  note();
  if (pthread_mutex_trylock(&tried) == 0) {
    k += number;
    pthread_mutex_unlock(&tried);
  }
  pthread_mutex_lock(&own);
  pthread_mutex_unlock(&own);
}
int main(void) {
  signal(SIGUSR1, handler);
  pthread_mutex_lock(&waited);
  pthread_mutex_lock(&tried);
  ++n;
  ++k;
  pthread_mutex_unlock(&tried);
  pthread_mutex_unlock(&waited);
  return n + k;
}
// CHECK:9: 'waited' is acquired here by the signal handler 'handler', and by other code: a thread that is interrupted while it holds it waits for itself
// CHECK-NEXT:  24: acquired here in 'main'
// CHECK-NEXT:1 findings
