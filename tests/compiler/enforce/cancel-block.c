// A block that may be cancelled has a way past its body, which it goes when it was: as the transaction around it, if
// there is one. In a program that cancels nothing, blocks have no such way.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %cc %s -DNOTHING | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s --check-prefix=NOTHING
#include <tandem/tandem.h>
#include <tandem/transaction.h>
#ifdef NOTHING
#define tandem_cancel()
#endif
static long used, full;
static long take(long wanted) {
  tandem_atomic {
    used += wanted;
    if (used > full)
      tandem_cancel();
    return used;
  }
  return -1;
}
int main(void) { return (int)take(3); }
// CHECK-LABEL: define internal {{.*}} @take.tandem.block(
// CHECK: call i32 @_TANDEM_begin(i32 1,
// CHECK: call {{.*}} @take.tandem.block.tandem.body.tandem.tm({{.*}}, i1 false)
// CHECK: call void @_ITM_commitTransaction()
// CHECK: call i32 @_ITM_inTransaction()
// CHECK: call {{.*}} @take.tandem.block.tandem.body.tandem.tm({{.*}}, i1 true)
// CHECK: call {{.*}} @take.tandem.block.tandem.body({{.*}}, i1 true)
// CHECK-NOT: tandem.cancelled
// NOTHING-NOT: i1 true
// NOTHING-NOT: br i1 false
// NOTHING-LABEL: define internal {{.*}} @take.tandem.block(
// NOTHING: call i32 @_TANDEM_begin(i32 11,
// NOTHING-NOT: _ITM_inTransaction
