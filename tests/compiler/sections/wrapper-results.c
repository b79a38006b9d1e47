// Wrappers that return negative error numbers, and those that callers tell by a constant what to do.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <errno.h>
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER, pool[4];
static long n;
static int negated(pthread_mutex_t *lock) { return -pthread_mutex_lock(lock); }
static int negated_or_zero(unsigned which) {
  if (which >= 4)
    return -EINVAL;
  const int error = pthread_mutex_lock(&pool[which]);
  return error ? -error : 0;
}
static void release(unsigned which) {
  if (which < 4)
    pthread_mutex_unlock(&pool[which]);
}
static int tries(pthread_mutex_t *lock) {
  const int error = pthread_mutex_trylock(lock);
  return error == 0 ? 0 : -error;
}
static int failed_or_zero(pthread_mutex_t *lock) {
  const int error = pthread_mutex_trylock(lock);
  return error ? 0 : -error; // says nothing
}
enum operation { ACQUIRE = 1, RELEASE = 2 };
static void callback(int mode, int which) {
  if (mode & ACQUIRE)
    pthread_mutex_lock(&pool[which]);
  else
    pthread_mutex_unlock(&pool[which]);
}
static void told(int mode) {
  if (mode & ACQUIRE)
    pthread_mutex_lock(&m);
  else
    pthread_mutex_unlock(&m);
}
int main(int argc, char **argv) {
  if (negated(&m) == 0) {
    ++n;
    pthread_mutex_unlock(&m);
  }
  if (negated_or_zero(2) == 0) {
    ++n;
    release(2);
  }
  if (tries(&m))
    return 1;
  ++n;
  pthread_mutex_unlock(&m);
  if (!failed_or_zero(&m)) {
    ++n;
    pthread_mutex_unlock(&m);
  }
  callback(ACQUIRE, argc);
  ++n;
  callback(RELEASE, argc);
  told(argc); // by no constant
  ++n;
  told(argc + 1);
  return argv != 0;
}
// CHECK: section told_1 lock-region {{.*}} m, 0 exits, escapes
// CHECK-NEXT: section main_1 lock-region line [[#@LINE-25]]: mutex pthread-mutex m, 1 exits, same-function
// CHECK-NEXT: section main_2 lock-region line [[#@LINE-22]]: mutex pthread-mutex pool[], 1 exits, same-function
// CHECK-NEXT: section main_3 lock-region line [[#@LINE-19]]: trylock pthread-mutex m, 1 exits, same-function
// CHECK-NEXT: section main_4 lock-region line [[#@LINE-16]]: trylock pthread-mutex m, 2 exits, escapes
// CHECK-NEXT: section main_5 lock-region line [[#@LINE-13]]: mutex pthread-mutex pool[], 1 exits, same-function
