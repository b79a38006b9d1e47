// Without the strict mark the same section links.
// RUN: %cc %s > %t.before.ll
// RUN: env TANDEM_ENFORCE=global-lock %tandem < %t.before.ll > %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.json
// CHECK-NOT: "strict"
#include <stdio.h>
#include <tandem/tandem.h>
TANDEM_ATOMIC void count(void) { puts("counted"); }
int main(void) { count(); }
