// A block that was optimised before the pass is reported, and no longer enforced.
// RUN: %cc -D__TANDEM_OPTIMISED__=1 %s > %t.before.ll
// RUN: env TANDEM_ENFORCE=none %tandem < %t.before.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: not env TANDEM_ENFORCE=global-lock %tandem < %t.before.ll 2> %t.err
// RUN: %FileCheck %s --check-prefix=REFUSED --input-file=%t.err
#include <tandem/tandem.h>
static int counter;
int main(void) {
  tandem_atomic { ++counter; }
  return counter;
}
// CHECK: "name": "main_1"
// REFUSED: tandem-cc: {{.*}}block-optimised.c:10: atomic section 'main_1' was optimised before the link
