// An irrevocable callee comes with the shortest chain of calls to it; output always is irrevocable.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <stdio.h>
static int counter;
static void tell(void) { printf("%d\n", counter); }
static void step(void) { tell(); }
__attribute__((atomic)) void section(void) {
  ++counter;
  step();
}
int main(void) {
  section();
  return 0;
}
// CHECK: "class": "non-revocable"
// CHECK-NEXT: "irrevocable_at": "begin"
// CHECK: "callee": "printf"
// CHECK-NEXT: "chain": [
// CHECK-NEXT: "section"
// CHECK-NEXT: "step"
// CHECK-NEXT: "tell"
// CHECK-NEXT: "printf"
