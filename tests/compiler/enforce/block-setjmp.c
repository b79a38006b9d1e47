// A block that calls what returns twice cannot be a function of its own, whatever the call's name.
// RUN: %cc -DCALL='setjmp(again)' %s > %t.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: env TANDEM_ENFORCE=global-lock %tandem < %t.ll > %t.after.ll
// RUN: %cc -DCALL='sigsetjmp(signal_again, 1)' %s > %t.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: %cc -DCALL='__builtin_setjmp(words)' %s > %t.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
// RUN: %cc -DCALL='vfork()' %s > %t.ll
// RUN: not env TANDEM_ENFORCE=stm %tandem < %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
#define _GNU_SOURCE
#include <setjmp.h>
#include <tandem/tandem.h>
#include <unistd.h>
jmp_buf again;
sigjmp_buf signal_again;
void *words[5];
static int counter;
static void count(void) {
  tandem_atomic {
    if (CALL == 0)
      counter += 1;
  }
}
int main(void) {
  count();
  return 0;
}
// CHECK: tandem-cc: {{.*}}block-setjmp.c:24: atomic block 'count_1' cannot be made a transaction: it calls setjmp or the like
