// Behind the join of all threads, before a thread starts the ones with the section, and through functions that create
// and join for their callers: nothing is outside. A thread that is not joined, and one joined of two, is beside.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long all, started, late, half;
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
static void start(pthread_t *thread, void *(*what)(void *)) {
  if (pthread_create(thread, 0, what, 0) != 0)
    __builtin_abort();
}
static void end(pthread_t thread) { pthread_join(thread, 0); }
static void *primary(void *unused) {
  started = 7;
  pthread_t workers[2];
  for (int i = 0; i < 2; ++i)
    start(&workers[i], in_started);
  for (int i = 0; i < 2; ++i)
    end(workers[i]);
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
  start(&one, primary);
  end(one);
  ++started;
  start(&third, in_late);
  ++late;
  start(&one, in_half);
  start(&other, in_half);
  end(one);
  ++half;
  return 0;
}
// CHECK:58: 'late' is written here outside all sections, and written in section 'in_late_1'
// CHECK-NEXT:  22: written here in section 'in_late_1'
// CHECK-NEXT:62: 'half' is written here outside all sections, and written in section 'in_half_1'
// CHECK-NEXT:  28: written here in section 'in_half_1'
// CHECK-NEXT:2 findings
