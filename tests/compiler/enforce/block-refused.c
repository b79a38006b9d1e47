// A block that cannot be a function of its own cannot be a transaction: an error with place and way
// out. Under the global lock it can stay where it is.
// RUN: %cc %s > %t.before.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.before.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: env TANDEM_ENFORCE=global-lock %tandem < %t.before.ll > %t.ll
#include <stdarg.h>
#include <tandem/tandem.h>
static int counter;
static void count(int numbers, ...) {
  tandem_atomic {
    va_list list;
    va_start(list, numbers);
    counter += va_arg(list, int);
    va_end(list);
  }
}
int main(void) {
  count(1, 2);
  return 0;
}
// CHECK: tandem-cc: {{.*}}block-refused.c:11: atomic block 'count_1' cannot be made a transaction: {{.*}}; use -ftandem-enforce=global-lock
