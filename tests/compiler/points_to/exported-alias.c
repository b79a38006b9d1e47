// So does an exported alias of something that is not.
// RUN: %cc %s | env TANDEM_ENFORCE=none %library > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static long x;
extern long y __attribute__((alias("x")));
extern long *slot;
__attribute__((atomic)) void mine(void) { x++; }
__attribute__((atomic)) void theirs(void) { ++*slot; }
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
