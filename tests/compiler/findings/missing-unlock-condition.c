// One condition decides about the acquisition and the release, although another thread may change it in between.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json missing-unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int shared, n;
static void *work(void *unused) {
  if (shared)
    pthread_mutex_lock(&m);
  ++n;
  if (shared)
    pthread_mutex_unlock(&m);
  shared = 1;
  return unused;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, work, 0);
  pthread_create(&b, 0, work, 0);
  return 0;
}
// CHECK:0 findings
