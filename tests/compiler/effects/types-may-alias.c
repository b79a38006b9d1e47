// A structure with the attribute may_alias may mean what another one does.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stddef.h>
struct __attribute__((may_alias)) counter {
  char name[8];
  long hits;
};
struct link {
  struct link *next;
  int flags;
};
static volatile size_t where;
static char pool[4096] __attribute__((aligned(16)));
static struct counter *a_counter(void) { return (struct counter *)(pool + where); }
static struct link *a_link(void) { return (struct link *)(pool + where); }
__attribute__((atomic)) void count(void) { a_counter()->hits += 1; }
__attribute__((atomic)) void mark(void) { a_link()->flags = 1; }
__attribute__((atomic)) void wipe(void) { pool[where] = 0; }
static void *run(void *unused) {
  (void)unused;
  count();
  mark();
  wipe();
  return 0;
}
int main(void) {
  pthread_t a, b;
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "count"
// CHECK: "conflicts": [
// CHECK: "with": "count"
// CHECK: "with": "mark"
// CHECK: "with": "wipe"
