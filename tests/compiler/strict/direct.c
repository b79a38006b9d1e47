// A strict section that calls what cannot be undone does not link.
// RUN: %cc %s > %t.before.ll
// RUN: not env TANDEM_ENFORCE=hybrid %tandem < %t.before.ll > %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: not ls %t.json
#include <stdio.h>
#include <tandem/tandem.h>
static int counter;
TANDEM_ATOMIC_STRICT void count(void) {
  ++counter;
  puts("counted");
}
int main(void) { count(); }
// CHECK: {{^.*}}direct.c:[[#@LINE-5]]: error: strict atomic section 'count' reaches 'puts': count
// CHECK-SAME: → puts
// CHECK-NOT: error:
