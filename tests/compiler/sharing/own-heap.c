// Memory that a thread allocates and gives to nobody is its own.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
#include <stdlib.h>
__attribute__((atomic)) void count(int *cell) { ++*cell; }
static void *run(void *unused) {
  (void)unused;
  int *cell = calloc(1, sizeof *cell);
  count(cell);
  free(cell);
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
// CHECK: "conflicts": []
