// A call through a pointer enters functions whose address the program takes, not those that are only exported (-rdynamic). Calls
// that may enter more than four functions are not followed.
// RUN: %cc %s > %t.in.ll
// RUN: env TANDEM_ENFORCE=none %tandem -internalize-public-api-list=direct,set < %t.in.ll > %t.ll
// RUN: %python %S/print.py %t.json lock-order | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER,
                       third = PTHREAD_MUTEX_INITIALIZER, fourth = PTHREAD_MUTEX_INITIALIZER;
static long n;
static void (*hook)(long);
static void (*one_of_two)(long *);
void set(void (*to)(long)) { hook = to; }
void direct(long by) { // no hook
  pthread_mutex_lock(&second);
  n += by;
  pthread_mutex_unlock(&second);
}
void a(long by) { n += by; }
void b(long by) { n -= by; }
void c(long by) { n ^= by; }
void d(long by) { n |= by; }
void e(long by) {
  pthread_mutex_lock(&third);
  n &= by;
  pthread_mutex_unlock(&third);
}
static void (*const many[])(long) = {a, b, c, d, e};
void two(long *by) {
  pthread_mutex_lock(&fourth);
  n += *by;
  pthread_mutex_unlock(&fourth);
}
static void *work(void *unused) {
  pthread_mutex_lock(&first);
  if (hook)
    hook(1);
  for (int i = 0; i < 5; ++i)
    many[i](n);
  one_of_two(&n);
  pthread_mutex_unlock(&first);
  return unused;
}
static void *other(void *unused) {
  pthread_mutex_lock(&second);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&second);
  pthread_mutex_lock(&third);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&third);
  pthread_mutex_lock(&fourth);
  pthread_mutex_lock(&first);
  pthread_mutex_unlock(&first);
  pthread_mutex_unlock(&fourth);
  return unused;
}
int main(void) {
  pthread_t threads[2];
  one_of_two = two;
  direct(1);
  pthread_create(&threads[0], 0, work, 0);
  pthread_create(&threads[1], 0, other, 0);
  pthread_join(threads[0], 0);
  pthread_join(threads[1], 0);
}
// CHECK:53: 'fourth' and 'first' are acquired in different orders: threads that hold one each wait for each other for ever
// CHECK-NEXT:  52: 'fourth' is acquired here, in 'other'
// CHECK-NEXT:  53: 'first' is acquired here while 'fourth' is held
// CHECK-NEXT:  34: 'first' is acquired here, in 'work'
// CHECK-NEXT:  39: 'work' calls 'two' here
// CHECK-NEXT:  29: 'fourth' is acquired here while 'first' is held
// CHECK-NEXT:1 findings
