// What leads to a function that does not return is cold, in a callee too.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json irrevocable-in-section | %FileCheck %s --match-full-lines --strict-whitespace
#include <stdio.h>
#include <stdlib.h>
static int counter;
static void give_up(void) {
  puts("full");
  exit(1);
}
__attribute__((atomic)) void section(void) {
  if (counter == 1000)
    give_up();
  ++counter;
}
int main(void) {
  section();
  return 0;
}
// CHECK:[[#@LINE-7]]: 'exit' cannot be undone and is called in atomic section 'section' (on a cold path): the section starts again, alone, when it gets there
// CHECK-NEXT:  [[#]]: 'give_up' calls 'exit' here
// CHECK-NEXT:[[#@LINE-9]]: 'puts' cannot be undone and is called in atomic section 'section' (on a cold path): the section starts again, alone, when it gets there
// CHECK-NEXT:  [[#@LINE-15]]: 'give_up' calls 'puts' here
// CHECK-NEXT:2 findings
