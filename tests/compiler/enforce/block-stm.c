// As a transaction a block is a function of its own. It gets the locals around it as values and gives them back through
// slots that need no barrier, or by address where something else knows it; how it was left is what it returns.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
#include <tandem/tandem.h>
static int counter;
void keep(int *);
int main(int argc, char **argv) {
  (void)argv;
  int local = 0;
  int known = 0;
  keep(&known);
  while (argc-- > 0) {
    tandem_atomic {
      local += counter++;
      known = local;
      if (local > 3)
        break;
      if (local > 2)
        continue;
    }
    local *= 2;
  }
  return local + known;
}
// CHECK-LABEL: define {{.*}} @main(
// CHECK: call {{.*}} @main.tandem.block(
// CHECK: define {{.*}} @main.tandem.block(
// CHECK: call {{.*}} @_TANDEM_begin(
// CHECK: call void @_ITM_commitTransaction()
// CHECK: define {{.*}} @main.tandem.block.tandem.tm(i32 %[[LOCAL:.*]], ptr %[[KNOWN:[a-z]+]], {{.*}}ptr "tandem-result" %[[RESULT:add.out]]
// CHECK: %[[READ:.*]] = call i32 @_TANDEM_inline_RfWU4(ptr @counter,
// CHECK: call void @_TANDEM_inline_WU4(ptr @counter,
// CHECK: %[[SUM:.*]] = add nsw i32 %{{.*}}, %[[LOCAL]]
// CHECK: store i32 %[[SUM]], ptr %[[RESULT]]
// CHECK: call void @_TANDEM_inline_WU4(ptr %[[KNOWN]],
