// A thread-local variable whose address is given away is shared.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static _Thread_local int mine, given;
static int *shared;
__attribute__((atomic)) void give(void) { shared = &given; }
__attribute__((atomic)) void own(void) { ++mine; }
__attribute__((atomic)) void own_given(void) { ++given; }
__attribute__((atomic)) void other(void) { ++*shared; }
int main(void) {
  give();
  own();
  own_given();
  other();
  return mine;
}
// CHECK: "name": "own"
// CHECK: "writes": []
// CHECK: "name": "own_given"
// CHECK: "writes": [
// CHECK-NEXT: "given"
// CHECK: "with": "other"
