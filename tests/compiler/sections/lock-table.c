// A table of lock functions that never changes: the calls are sites, also of wrappers and through a pointer to the table.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n, taken;
static void take(pthread_mutex_t *lock) {
  pthread_mutex_lock(lock);
  ++taken;
}
struct operations {
  void (*lock)(pthread_mutex_t *);
  int (*unlock)(pthread_mutex_t *);
};
static const struct operations constant = {take, pthread_mutex_unlock};
static struct operations variable = {take, pthread_mutex_unlock};
int main(void) {
  const struct operations *used = &constant;
  used->lock(&m);
  ++n;
  used->unlock(&m);
  variable.lock(&m);
  ++n;
  variable.unlock(&m);
  return 0;
}
// CHECK: section main_1 lock-region line 19: mutex pthread-mutex m, 1 exits, same-function
// CHECK-NEXT: section main_2 lock-region line 22: mutex pthread-mutex m, 1 exits, same-function
