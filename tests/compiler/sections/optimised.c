// A section that was optimised before the pass is reported, and no longer enforced.
// RUN: %cc -D__TANDEM_OPTIMISED__=1 %s > %t.before.ll
// RUN: env TANDEM_ENFORCE=none %tandem < %t.before.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.before.ll 2> %t.err
// RUN: %FileCheck %s --check-prefix=REFUSED --input-file=%t.err
static int counter;
__attribute__((atomic)) void tick(void) { ++counter; }
int main(void) {
  tick();
  return counter;
}
// CHECK: "name": "tick"
// REFUSED: tandem-cc: {{.*}}optimised.c:8: atomic section 'tick' was optimised before the link
