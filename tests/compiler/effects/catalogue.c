// The catalogue decides what an external function does; one that it does not know is irrevocable.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[function]' >> %t.toml
// RUN: echo 'known = { effect = "pure" }' >> %t.toml
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_CATALOGUE=%t.toml %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
int known(int), unknown(int);
static int counter;
__attribute__((atomic)) void safe(void) { counter = known(counter); }
__attribute__((atomic)) void unsafe(void) { counter = unknown(counter); }
static void *run(void *unused) {
  (void)unused;
  safe();
  unsafe();
  return (void *)(long)(0);
}
#include "../Inputs/run-twice.h"
// CHECK: "name": "safe"
// CHECK: "class": "hybrid"
// CHECK: "name": "unsafe"
// CHECK: "class": "non-revocable"
// CHECK: "callee": "unknown"
