// What main does before it starts the first thread runs beside nothing.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static int table[8];
__attribute__((atomic)) void fill(void) { table[0] = 1; }
__attribute__((atomic)) int get(int i) { return table[i]; }
static void *run(void *unused) {
  (void)unused;
  return (void *)(long)get(0);
}
int main(void) {
  pthread_t a, b;
  fill();
  pthread_create(&a, 0, run, 0);
  pthread_create(&b, 0, run, 0);
  pthread_join(a, 0);
  pthread_join(b, 0);
}
// CHECK: "name": "fill"
// CHECK: "conflicts": []
// CHECK: "name": "get"
// CHECK: "conflicts": []
