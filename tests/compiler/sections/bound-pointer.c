// A call through a local variable that holds one function is a call of that function, once.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n;
static void acquire(void *lock) { pthread_mutex_lock(lock); }
// CHECK-NOT: may be called by pointer
// CHECK-NOT: the address of pthread_mutex_lock is taken
static void by_wrapper(void) {
  void (*by)(void *) = acquire;
  by(&m);
  // CHECK-DAG: section by_wrapper_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
  ++n;
  pthread_mutex_unlock(&m);
}
static void by_operation(void) {
  int (*by)(pthread_mutex_t *) = pthread_mutex_lock;
  by(&m);
  // CHECK-DAG: section by_operation_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
  ++n;
  pthread_mutex_unlock(&m);
}
static void pushed(void) {
  pthread_cleanup_push(acquire, &m);
  ++n;
  pthread_cleanup_pop(1);
  pthread_mutex_unlock(&m);
}
int main(void) {
  by_wrapper();
  by_operation();
  pushed();
  return 0;
}
// CHECK-NOT: may be called by pointer
// CHECK-NOT: the address of pthread_mutex_lock is taken
