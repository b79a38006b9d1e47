// An irrevocable call that not every execution reaches leaves the section revocable until it is reached.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
#include <stdio.h>
static int counter;
__attribute__((atomic)) void section(int verbose) {
  ++counter;
  if (verbose)
    puts("counted");
}
int main(int argc, char **argv) {
  section(argc > 1);
  return 0;
}
// CHECK: "irrevocable_at": "reach"
