// Reporting an error on every path is not cold.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json irrevocable-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <stdio.h>
static int counter;
__attribute__((atomic)) void section(int limit) {
  if (counter > limit)
    fputs("more\n", stderr);
  else
    perror("less");
  ++counter;
}
int main(int argc, char **argv) {
  section(argc);
  return 0;
}
// CHECK:[[#@LINE-9]]: 'fputs' cannot be undone and is called in atomic section 'section': the section keeps all sections that conflict with it waiting
// CHECK-NEXT:[[#@LINE-8]]: 'perror' cannot be undone and is called in atomic section 'section': the section keeps all sections that conflict with it waiting
// CHECK-NEXT:2 findings
