// Nothing marked, nothing locked: no sections, and the module is left as it was.
// RUN: %cc %s > %t.before.ll
// RUN: env TANDEM_ENFORCE=stm %tandem < %t.before.ll > %t.ll
// RUN: %FileCheck %s --input-file=%t.json
// RUN: %FileCheck %s --check-prefix=IR --input-file=%t.ll
int main(void) { return 0; }
// CHECK: "sections": []
// IR-NOT: _ITM_
// IR-NOT: tandem.section
