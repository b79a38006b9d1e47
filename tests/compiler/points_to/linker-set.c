// From the bounds of a section a program comes to all variables in it.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
struct counter {
  long n;
};
static struct counter hits __attribute__((section("counters")));
extern struct counter __start_counters[], __stop_counters[];
__attribute__((atomic)) void mine(void) { hits.n++; }
__attribute__((atomic)) void theirs(void) {
  for (struct counter *c = __start_counters; c < __stop_counters; c++)
    c->n++;
}
static void *run(void *unused) {
  theirs();
  return unused;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, 0, run, 0);
  mine();
  return pthread_join(thread, 0);
}
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
