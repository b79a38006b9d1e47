// An irrevocable call that a marked section reaches on an ordinary path, with the steps to it.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json irrevocable-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <stdio.h>
static int counter;
static void tell(void) { printf("%d\n", counter); }
__attribute__((atomic)) void section(void) {
  ++counter;
  tell();
}
int main(void) {
  section();
  return 0;
}
// CHECK:[[#@LINE-6]]: 'printf' cannot be undone and is called in atomic section 'section': the section keeps all sections that conflict with it waiting
// CHECK-NEXT:  [[#@LINE-10]]: 'tell' calls 'printf' here
// CHECK-NEXT:1 findings
