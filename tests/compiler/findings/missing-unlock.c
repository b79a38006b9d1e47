// A way out of the function keeps the lock, and no caller releases it. Not: a function that tells its caller whether it
// has the lock, nor one that returns with it always.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json missing-unlock | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static int s, full;
static int get(int v) {
  pthread_mutex_lock(&m);
  if (v < 0)
    return -1;
  ++s;
  pthread_mutex_unlock(&m);
  return s;
}
static int begin(void) {
  pthread_mutex_lock(&m);
  if (!full)
    return 1;
  pthread_mutex_unlock(&m);
  return 0;
}
static void *work(void *unused) {
  if (begin()) {
    ++s;
    pthread_mutex_unlock(&m);
  }
  return unused;
}
int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, 0, work, 0);
  return get(argc);
}
// CHECK:9: 'm' is acquired here, and 'get' may return without releasing it
// CHECK-NEXT:  11: it is still held on this way to the end
// CHECK-NEXT:  13: it is released here on another way
// CHECK-NEXT:1 findings
