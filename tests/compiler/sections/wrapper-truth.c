// Wrappers that say by their result whether they have locked: true, one of two numbers, a negative one.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/describe.py %t.json | %FileCheck %s
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long n, depth;
static bool truly(void) { return pthread_mutex_lock(&m) == 0; }
static bool release(void) { return !pthread_mutex_unlock(&m); }
static int minus_or_zero(void) { return pthread_mutex_lock(&m) ? -1 : 0; }
static int one_or_zero(void) {
  int error = pthread_mutex_lock(&m);
  return error ? 0 : 1;
}
static int on_paths(void) {
  if (pthread_mutex_lock(&m))
    return -1;
  return 0;
}
static int always_zero(void) {
  if (pthread_mutex_lock(&m))
    abort();
  return 0;
}
static int says_depth(void) {
  pthread_mutex_lock(&m);
  return (int)depth;
}
static bool one(void) {
  if (!truly())
    // CHECK-DAG: section one_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
    return false;
  ++n;
  return release();
}
static bool two(void) {
  if (truly()) {
    // CHECK-DAG: section two_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
    ++n;
    return release();
  }
  return false;
}
static int three(void) {
  if (minus_or_zero() < 0)
    // CHECK-DAG: section three_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
    return -1;
  ++n;
  release();
  return 0;
}
static int four(void) {
  int locked = one_or_zero();
  // CHECK-DAG: section four_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
  if (locked <= 0)
    return -1;
  ++n;
  release();
  return 0;
}
static int five(void) {
  if (on_paths() != 0)
    // CHECK-DAG: section five_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits
    return -1;
  ++n;
  release();
  return 0;
}
static int six(void) {
  if (always_zero())
    // CHECK-DAG: section six_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 1 exits, same-function
    return -1;
  ++n;
  release();
  return 0;
}
static int seven(void) {
  if (says_depth() > 3) {
    // CHECK-DAG: section seven_1 lock-region line [[#@LINE-1]]: mutex pthread-mutex m, 2 exits, same-function
    release();
    return -1;
  }
  ++n;
  release();
  return 0;
}
int main(void) { return one() + two() + three() + four() + five() + six() + seven(); }
