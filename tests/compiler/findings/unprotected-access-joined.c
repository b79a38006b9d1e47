// Behind the join of all threads, and before a thread starts the ones with the section: nothing is outside. A thread that
// is not joined, and one joined of two, is beside.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long all, started, late, half, three;
static void *in_all(void *unused) {
  pthread_mutex_lock(&m);
  ++all;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_started(void *unused) {
  pthread_mutex_lock(&m);
  ++started;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_late(void *unused) {
  pthread_mutex_lock(&m);
  ++late;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_half(void *unused) {
  pthread_mutex_lock(&m);
  ++half;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *in_three(void *unused) {
  pthread_mutex_lock(&m);
  ++three;
  pthread_mutex_unlock(&m);
  return unused;
}
static void *primary(void *unused) {
  started = 7;
  pthread_t workers[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&workers[i], 0, in_started, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(workers[i], 0);
  ++started;
  return unused;
}
int main(void) {
  pthread_t threads[3], one, other, third;
  for (int i = 0; i < 3; ++i)
    pthread_create(&threads[i], 0, in_all, 0);
  for (int i = 0; i < 3; ++i)
    pthread_join(threads[i], 0);
  ++all;
  pthread_create(&one, 0, primary, 0);
  pthread_join(one, 0);
  ++started;
  pthread_create(&third, 0, in_late, 0);
  ++late;
  pthread_create(&one, 0, in_half, 0);
  pthread_create(&other, 0, in_half, 0);
  pthread_join(one, 0);
  ++half;
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, in_three, 0);
  pthread_create(&threads[2], 0, in_three, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
  ++three;
  pthread_join(threads[2], 0);
  --three;
  return 0;
}
// CHECK:59: 'late' is written here outside all sections, and written in section 'in_late_1'
// CHECK-NEXT:  22: written here in section 'in_late_1'
// CHECK-NEXT:63: 'half' is written here outside all sections, and written in section 'in_half_1'
// CHECK-NEXT:  28: written here in section 'in_half_1'
// CHECK-NEXT:69: 'three' is written here outside all sections, and written in section 'in_three_1'
// CHECK-NEXT:  34: written here in section 'in_three_1'
// CHECK-NEXT:3 findings
