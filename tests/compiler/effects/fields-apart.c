// Two fields of one structure do not conflict; a section that writes conflicts with itself.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <pthread.h>
static struct { long hits, misses; } stats;
__attribute__((atomic)) void hit(void) { ++stats.hits; }
__attribute__((atomic)) void miss(void) { ++stats.misses; }
static void *run(void *unused) {
  (void)unused;
  hit();
  miss();
  return (void *)(long)(0);
}
int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], 0, run, 0);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], 0);
}
// CHECK: "name": "hit"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "hit"
// CHECK-NEXT: "on": [
// CHECK-NEXT: "stats.hits"
// CHECK-NEXT: ]
// CHECK-NEXT: }
// CHECK-NEXT: ]
// CHECK: "name": "miss"
// CHECK: "conflicts": [
// CHECK-NEXT: {
// CHECK-NEXT: "with": "miss"
// CHECK-NEXT: "on": [
// CHECK-NEXT: "stats.misses"
// CHECK-NEXT: ]
// CHECK-NEXT: }
// CHECK-NEXT: ]
