// A variable of the program that a block only writes is no slot for its results: an attempt that is undone may have
// written it, and the next one not.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
#include <tandem/tandem.h>
static int state;
__attribute__((noinline)) static void initialise(int *value) { *value = 100; }
int main(void) {
  int value;
  initialise(&value);
  tandem_atomic {
    if (state == 0)
      value = 1;
  }
  return value;
}
// CHECK: define {{.*}} @main.tandem.block.tandem.tm(ptr
// CHECK-NOT: tandem-result
// CHECK: call void @_TANDEM_inline_WU4(ptr %value, i32 1,
