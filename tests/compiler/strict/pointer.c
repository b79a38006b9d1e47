// A call through a pointer counts.
// RUN: %cc %s > %t.before.ll
// RUN: not %tandem < %t.before.ll > %t.ll 2> %t.err
// RUN: %FileCheck %s --input-file=%t.err
#include <stdio.h>
#include <tandem/tandem.h>
static int counter;
static void print(int value) { printf("%d\n", value); }
static void drop(int value) { counter -= value; }
static void (*observer)(int) = drop;
TANDEM_ATOMIC_STRICT void count(void) { observer(++counter); }
int main(int argc, char **argv) {
  if (argc > 1)
    observer = print;
  count();
  return argv == 0;
}
// CHECK: error: strict atomic section 'count' reaches 'printf': count {{.*}}→ print {{.*}}→ printf
