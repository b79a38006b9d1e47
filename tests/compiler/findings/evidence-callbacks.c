// The source does not tell which threads run library callbacks and signal handlers, so two of them, or one with itself, are not
// reported as concurrent. A callback and a thread that the program creates are.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unguarded-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <signal.h>
static long ticks, stopped, beats;
struct event_base;
extern struct event *event_new(struct event_base *, int, short, void (*)(int, short, void *), void *);
static void tick(int descriptor, short what, void *given) {
  ++ticks;
  ++beats;
}
static void stop(int unused) { stopped = 1; }
static void *work(void *unused) {
  ++beats;
  return unused;
}
int main(void) {
  pthread_t thread;
  signal(SIGTERM, stop);
  signal(SIGINT, stop);
  pthread_create(&thread, 0, work, 0);
  event_new(0, -1, 0, tick, 0);
  event_new(0, -1, 0, tick, 0);
  pthread_join(thread, 0);
}
// CHECK:12: 'beats' is written here and written by another thread, both without a lock
// CHECK-NEXT:  16: written here, by the thread that begins with 'work'
// CHECK-NEXT:  12: written here by the one that begins with 'tick'
// CHECK-NEXT:1 findings
