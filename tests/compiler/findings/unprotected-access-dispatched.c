// What a library calls back is run by threads that call into it: before the first of them is there, main is beside none of
// these. Threads that do other things do not count.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <unistd.h>
static pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
static long before, after;
struct event_base;
extern struct event *event_new(struct event_base *, int, short, void (*)(int, short, void *), void *);
extern int event_base_loop(struct event_base *, int);
static void tick(int descriptor, short what, void *given) {
  pthread_mutex_lock(&m);
  ++before;
  ++after;
  pthread_mutex_unlock(&m);
}
static void *log_now(void *unused) {
  write(1, "x", 1);
  return unused;
}
static void *work(void *base) {
  event_base_loop(base, 0);
  return 0;
}
int main(void) {
  pthread_t logger, worker;
  pthread_create(&logger, 0, log_now, 0);
  event_new(0, -1, 0, tick, 0);
  ++before;
  pthread_create(&worker, 0, work, 0);
  ++after;
  pthread_join(worker, 0);
  pthread_join(logger, 0);
}
// CHECK:32: 'after' is written here outside all sections, and written in section 'tick_1'
// CHECK-NEXT:  15: written here in section 'tick_1'
// CHECK-NEXT:1 findings
