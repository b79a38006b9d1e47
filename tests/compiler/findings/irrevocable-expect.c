// What __builtin_expect calls unlikely is cold.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json irrevocable-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <stdio.h>
static int counter;
__attribute__((atomic)) void section(int verbose) {
  ++counter;
  if (__builtin_expect(verbose, 0))
    puts("counted");
}
int main(int argc, char **argv) {
  section(argc > 1);
  return 0;
}
// CHECK:[[#@LINE-6]]: 'puts' cannot be undone and is called in atomic section 'section' (on a cold path): the section starts again, alone, when it gets there
// CHECK-NEXT:1 findings
