// A program with one thread has no conflicts.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static int counter;
__attribute__((atomic)) void count(void) { ++counter; }
int main(void) {
  count();
  return counter;
}
// CHECK: "name": "count"
// CHECK: "writes": []
// CHECK: "conflicts": []
