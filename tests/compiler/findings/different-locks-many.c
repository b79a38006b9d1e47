// What callers certainly hold does not count against the sets of locks that a function is looked at with: four sets, each
// held on every path by some callers and on some paths only by others, leave room for the one that makes a race.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json different-locks | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
static pthread_mutex_t a = PTHREAD_MUTEX_INITIALIZER, b = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t c = PTHREAD_MUTEX_INITIALIZER;
static long total;
static void add(void) { ++total; }
#define CALLER(name, before, after)                                                                                    \
  static void name(int some) {                                                                                         \
    if (some < 0)                                                                                                      \
      return;                                                                                                          \
    before;                                                                                                            \
    add();                                                                                                             \
    after;                                                                                                             \
  }
#define LOCK(m) pthread_mutex_lock(&m)
#define UNLOCK(m) pthread_mutex_unlock(&m)
#define MAY(m, does)                                                                                                   \
  if (some)                                                                                                            \
  does(m)
CALLER(with_a, LOCK(a), UNLOCK(a))
CALLER(maybe_a, MAY(a, LOCK), MAY(a, UNLOCK))
CALLER(with_b, LOCK(b), UNLOCK(b))
CALLER(maybe_b, MAY(b, LOCK), MAY(b, UNLOCK))
CALLER(with_both, LOCK(a); LOCK(b), UNLOCK(b); UNLOCK(a))
CALLER(maybe_both, MAY(a, LOCK); MAY(b, LOCK), MAY(b, UNLOCK); MAY(a, UNLOCK))
CALLER(with_a_maybe_b, LOCK(a); MAY(b, LOCK), MAY(b, UNLOCK); UNLOCK(a))
CALLER(with_b_maybe_a, MAY(a, LOCK); LOCK(b), UNLOCK(b); MAY(a, UNLOCK))
CALLER(with_c, LOCK(c), UNLOCK(c))
static void *one(void *given) {
  int some = *(int *)given;
  switch (some) {
  case 0: with_a(some); break;
  case 1: maybe_a(some); break;
  case 2: with_b(some); break;
  case 3: maybe_b(some); break;
  case 4: with_both(some); break;
  case 5: maybe_both(some); break;
  case 6: with_a_maybe_b(some); break;
  case 7: with_b_maybe_a(some); break;
  default: with_c(some); break;
  }
  return 0;
}
static void *two(void *unused) {
  pthread_mutex_lock(&a);
  pthread_mutex_lock(&b);
  ++total;
  pthread_mutex_unlock(&b);
  pthread_mutex_unlock(&a);
  return unused;
}
int main(int count, char **unused) {
  pthread_t first, second;
  pthread_create(&first, 0, one, &count);
  pthread_create(&second, 0, two, 0);
  pthread_join(first, 0);
  pthread_join(second, 0);
  return total > 6;
}
// CHECK:9: 'total' is written here with 'c' held, and written with 'a', 'b' held: they do not exclude each other
// CHECK-NEXT:  50: written here, by the thread that begins with 'two'
// CHECK-NEXT:  9: written here by the one that begins with 'one'
// CHECK-NEXT:1 findings
