// What a callback that lies in memory gets of what the memory leads to, whichever of its parameters it is.
// RUN: echo 'version = 1' > %t.toml
// RUN: echo '[function.visit]' >> %t.toml
// RUN: echo 'effect = "irrevocable"' >> %t.toml
// RUN: echo 'exact = true' >> %t.toml
// RUN: echo 'reads = [0]' >> %t.toml
// RUN: echo 'follows = [0]' >> %t.toml
// RUN: echo 'callbacks = { function = 0, in-memory = true, when = "now", gets = ["nothing", "found"] }' >> %t.toml
// RUN: %cc %s | env TANDEM_ENFORCE=none TANDEM_CATALOGUE=%t.toml %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
struct visitor {
  long calls;
  void (*each)(int, long *);
  long *sum;
};
void visit(struct visitor *);
static long total, apart;
static void add(int value, long *sum) { *sum += value; }
__attribute__((atomic)) void walk(void) {
  struct visitor own = {0, add, &total};
  visit(&own);
}
__attribute__((atomic)) long ask(void) { return total; }
__attribute__((atomic)) long other(void) { return apart++; }
static void *run(void *unused) {
  (void)unused;
  walk();
  return (void *)(ask() + other());
}
#include "../Inputs/run-twice.h"
// CHECK: "name": "walk"
// CHECK: "writes": [
// CHECK: "total"
// CHECK-NOT: "apart"
// CHECK: "name": "ask"
// CHECK: "with": "walk"
