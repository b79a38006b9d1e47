// As a transaction a block is a function of its own, whose clone reaches the locals around it by
// barriers; how it was left is what the function returns.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
#include <tandem/tandem.h>
static int counter;
int main(int argc, char **argv) {
  (void)argv;
  int local = 0;
  while (argc-- > 0) {
    tandem_atomic {
      local += counter++;
      if (local > 3)
        break;
      if (local > 2)
        continue;
    }
    local *= 2;
  }
  return local;
}
// CHECK-LABEL: define {{.*}} @main(
// CHECK: call {{.*}} @main.tandem.block(
// CHECK: define {{.*}} @main.tandem.block(
// CHECK: call {{.*}} @_TANDEM_begin(
// CHECK: call void @_ITM_commitTransaction()
// CHECK: define {{.*}} @main.tandem.block.tandem.tm(
// CHECK-DAG: call i32 @_ITM_RU4(ptr @counter)
// CHECK-DAG: call void @_ITM_WU4(ptr %local
