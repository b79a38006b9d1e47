// Reads and writes name globals with their fields; constants, locals and what nobody writes are
// nobody's business.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static struct { long hits, misses; } stats;
static const int table[4] = {1, 2, 3, 4};
static int limit;
__attribute__((atomic)) void hit(int i) {
  int local = table[i] + limit;
  stats.hits += local;
}
static void *run(void *unused) {
  (void)unused;
  hit(1);
  return (void *)(long)(0);
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "reads": [
// CHECK-NEXT: "stats.hits"
// CHECK-NEXT: ]
// CHECK: "writes": [
// CHECK-NEXT: "stats.hits"
// CHECK-NEXT: ]
