// What a pool of the program's own gives away is a new object each time, where the catalogue says
// that a function is its allocator; else all that the pool ever had is one.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --check-prefix=ONE --input-file=%t.json
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_CATALOGUE=%S/Inputs/pool.toml %tandem > %t.ll
// RUN: %FileCheck %s --check-prefix=APART --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
struct cell {
  struct cell *next;
  long value;
};
static struct cell *pool;
static struct cell *a, *b;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

struct cell *take(void) {
  struct cell *taken = pool;
  if (taken == 0)
    return malloc(sizeof *taken);
  pool = taken->next;
  return taken;
}
void give_back(struct cell *cell) {
  cell->next = pool;
  pool = cell;
}
__attribute__((atomic)) void bump_a(void) { ++a->value; }
__attribute__((atomic)) void bump_b(void) { ++b->value; }
static void *run(void *unused) {
  (void)unused;
  bump_a();
  bump_b();
  return 0;
}
int main(void) {
  a = take();
  give_back(a);
  a = take();
  b = take();
  pthread_t x, y;
  pthread_create(&x, 0, run, 0);
  pthread_create(&y, 0, run, 0);
  pthread_join(x, 0);
  pthread_join(y, 0);
}
// ONE: "name": "bump_a"
// ONE: "with": "bump_a"
// ONE: "with": "bump_b"
// ONE: "name": "bump_b"
// APART: "name": "bump_a"
// APART: "with": "bump_a"
// APART-NOT: "with": "bump_b"
// APART: "name": "bump_b"
