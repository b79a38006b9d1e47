// The runtime is told: flag TANDEM_SECTION_STRICT of the section's descriptor.
// RUN: %cc %s > %t.before.ll
// RUN: env TANDEM_ENFORCE=global-lock %tandem < %t.before.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// CHECK-DAG: @tandem.section.strictly = internal {{.*}} { i32 {{[0-9]+}}, i32 {{[0-9]+}}, i8 {{[0-9]+}}, i8 {{[0-9]+}}, i8 {{[0-9]+}}, i8 0, i32 1,
// CHECK-DAG: @tandem.section.plainly = internal {{.*}} { i32 {{[0-9]+}}, i32 {{[0-9]+}}, i8 {{[0-9]+}}, i8 {{[0-9]+}}, i8 {{[0-9]+}}, i8 0, i32 0,
#include <tandem/tandem.h>
static int counter;
TANDEM_ATOMIC_STRICT void strictly(void) { ++counter; }
TANDEM_ATOMIC void plainly(void) { ++counter; }
int main(void) {
  strictly();
  plainly();
  return counter;
}
