// The chain of calls to each irrevocable function, one line for each.
// RUN: %cc %s > %t.before.ll
// RUN: not %tandem < %t.before.ll > %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
#include <stdio.h>
#include <stdlib.h>
#include <tandem/tandem.h>
static int counter;
static void tell(int value) {
  printf("%d\n", value);
}
static void note(int value) {
  if (value == 7)
    tell(value);
}
TANDEM_ATOMIC_STRICT void count(void) {
  note(++counter);
  counter += rand();
}
int main(void) { count(); }
// CHECK-DAG: {{chain.c:[0-9]+: error: strict atomic section 'count' reaches 'printf': count .*→ note .*→ tell .*→ printf$}}
// CHECK-DAG: {{chain.c:[0-9]+: error: strict atomic section 'count' reaches 'rand': count .*→ rand$}}
