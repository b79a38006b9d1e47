// Reporting an error is cold where it depends on something.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json irrevocable-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <stdio.h>
static int counter;
__attribute__((atomic)) void section(int limit) {
  if (counter > limit)
    fprintf(stderr, "too many\n");
  ++counter;
}
int main(int argc, char **argv) {
  section(argc);
  return 0;
}
// CHECK:[[#@LINE-7]]: 'fprintf' cannot be undone and is called in atomic section 'section' (on a cold path): the section starts again, alone, when it gets there
// CHECK-NEXT:1 findings
