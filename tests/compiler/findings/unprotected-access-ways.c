// Evidence is a way on which the other thread exists: `early` is called before it does and, afterwards, only by a pointer
// that may be any of many functions; of `both` the note shows the call behind the creation, not the first one.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
// RUN: %python %S/print.py %t.json possible-race | %FileCheck %s --check-prefix=GUESS --match-full-lines
#include <pthread.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int first, second, other;
static void *work(void *unused) {
  pthread_mutex_lock(&lock);
  ++first;
  ++second;
  pthread_mutex_unlock(&lock);
  return unused;
}
static void early(void) { first = 1; }
static void both(void) { second = 1; }
static void a(void) { other = 1; }
static void b(void) { other = 2; }
static void c(void) { other = 3; }
static void d(void) { other = 4; }
static void (*const table[])(void) = {a, b, c, d, early};
static void set_up(void) {
  early();
  both();
}
static void again(void) { both(); }
int main(int count, char **unused) {
  pthread_t thread;
  set_up();
  pthread_create(&thread, 0, work, 0);
  table[count % 5]();
  again();
  return 0;
}
// CHECK:17: 'second' is written here outside all sections, and written in section 'work_1'
// CHECK-NEXT:  12: written here in section 'work_1'
// CHECK-NEXT:  33: 'main' calls 'again' here, outside all sections
// CHECK-NEXT:  27: 'again' calls 'both' here, outside all sections
// CHECK-NEXT:1 findings
// GUESS:16: 'first' is written here outside all sections, and written in section 'work_1'
// GUESS:1 findings
