// Older C may call a wrapper that is told what to do with fewer arguments than it has parameters.
// RUN: %cc -std=gnu89 -Wno-everything %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;
static int told(x, lock) pthread_mutex_t *x;
int lock;
{
  if (lock)
    return pthread_mutex_lock(x);
  return pthread_mutex_unlock(x);
}
int main(int argc, char **argv) {
  pthread_mutex_lock(&m);
  // CHECK: section main_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
  ++n;
  pthread_mutex_unlock(&m);
  if (argc > 9)
    told(&m);
  told(&m, argc);
  return 0;
}
