// When a library is loaded other threads exist.
// RUN: %cc %s | env TANDEM_ENFORCE=none %library > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
static long x;
__attribute__((atomic)) static void mine(void) { x++; }
__attribute__((atomic)) static void theirs(void) { x++; }
void call(void) { mine(); }
__attribute__((constructor)) static void begin(void) { theirs(); }
// CHECK: "name": "mine{{(\(\))?}}"
// CHECK: "conflicts": [
// CHECK-NOT: "name":
// CHECK: "with": "theirs{{(\(\))?}}"
