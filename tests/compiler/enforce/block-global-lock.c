// Under the global lock a block's markers become the calls that enter and leave it, at every exit.
// RUN: %cc %s | env TANDEM_ENFORCE=global-lock %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
#include <tandem/tandem.h>
static int counter;
int main(int argc, char **argv) {
  (void)argv;
  tandem_atomic {
    if (argc > 1)
      return 1;
    ++counter;
  }
  return 0;
}
// CHECK-LABEL: define {{.*}} @main(
// CHECK: call void @_TANDEM_inline_global_lock_enter(ptr @[[SECTION:[^ ]+]])
// CHECK: store i32 %{{.*}}, ptr @counter
// CHECK: call void @_TANDEM_inline_global_lock_leave(ptr @[[SECTION]])
// CHECK-NOT: call {{.*}}@_TANDEM_block_
