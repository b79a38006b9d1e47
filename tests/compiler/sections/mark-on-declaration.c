// A mark on a declaration holds for the definition that follows.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
int counter;
__attribute__((atomic)) void tick(void);
int main(void) {
  tick();
  return counter;
}
void tick(void) { ++counter; }
// CHECK: "name": "tick"
// CHECK: "line": 10
