// A constant that is exported gives away what it leads to.
// RUN: %cc %s | env TANDEM_ENFORCE=none %library > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static long x;
long *const where = &x;
extern long *const *slot;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { ++**slot; }
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
