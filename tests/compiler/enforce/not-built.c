// A mode that is not built yet says so, and falls back on a sound one.
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem 2> %t.err | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=SAYS --input-file=%t.err
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
static int counter;
__attribute__((atomic)) void tick(void) { ++counter; }
int main(void) {
  tick();
  return counter;
}
// CHECK: call {{.*}}@_ITM_beginTransaction
// SAYS: tandem-cc: warning: -ftandem-enforce=hybrid is not built yet: the 1 atomic section of 'program' is enforced by stm
// REPORT: "requested": "hybrid"
// REPORT-NEXT: "used": "stm"
