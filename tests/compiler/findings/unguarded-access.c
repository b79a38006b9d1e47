// Without any lock: by two threads of one function; not what is read behind the join, and not between threads that
// follow each other.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unguarded-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static long n, turns, own;
static void *count(void *unused) {
  ++n;
  return unused;
}
static void *turn(void *unused) {
  ++turns;
  return unused;
}
int main(void) {
  pthread_t threads[2], first, second;
  own = 1;
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, count, 0);
  ++own;
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
  pthread_create(&first, 0, turn, 0);
  pthread_join(first, 0);
  pthread_create(&second, 0, turn, 0);
  pthread_join(second, 0);
  return n + turns + own == 6;
}
// CHECK:8: 'n' is written here and written by another thread, both without a lock
// CHECK-NEXT:  8: written here, by the thread that begins with 'count'
// CHECK-NEXT:  8: written here by the one that begins with 'count'
// CHECK-NEXT:1 findings
