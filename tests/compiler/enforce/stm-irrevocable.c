// stm: before an action that cannot be undone the transaction becomes serial and irrevocable.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <stdio.h>
static int counter;
__attribute__((atomic)) void tick(int verbose) {
  ++counter;
  if (verbose)
    puts("counted");
}
int main(int argc, char **argv) {
  tick(argc);
  return 0;
}
// CHECK-LABEL: define internal {{.*}}@tick.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: call i32 @puts(
