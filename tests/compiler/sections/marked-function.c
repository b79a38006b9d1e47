// A function marked atomic is a section, named and placed as in the source.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
int counter;
__attribute__((atomic)) void tick(void) { ++counter; }
int main(void) {
  tick();
  return counter;
}
// CHECK-NOT: "name": "main"
// CHECK: "name": "tick"
// CHECK-NEXT: "kind": "function"
// CHECK: "line": 5
// CHECK-NOT: "name": "main"
