// Reads and writes name globals with their fields; constants and locals are nobody's business.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static struct { long hits, misses; } stats;
static const int table[4] = {1, 2, 3, 4};
static int limit;
__attribute__((atomic)) void hit(int i) {
  int local = table[i] + limit;
  stats.hits += local;
}
int main(void) {
  hit(1);
  return 0;
}
// CHECK: "reads": [
// CHECK-NEXT: "limit"
// CHECK-NEXT: "stats.hits"
// CHECK-NEXT: ]
// CHECK: "writes": [
// CHECK-NEXT: "stats.hits"
// CHECK-NEXT: ]
