// A function that may be cancelled: begin may return a second time to say so, then the function returns zero. It is
// neither shrunk nor part of the section that it is called from, but a transaction in it.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem > %t.hybrid.ll
// RUN: %FileCheck %s --input-file=%t.hybrid.ll
#include <tandem/tandem.h>
#include <tandem/transaction.h>
static long full, used, tried;
static void check(long wanted) {
  if (used + wanted > full)
    tandem_cancel();
}
TANDEM_ATOMIC static long take(long wanted) {
  used += wanted;
  check(wanted);
  return used;
}
TANDEM_ATOMIC static void twice(void) {
  ++tried;
  if (take(1) != 0)
    take(2);
}
int main(void) {
  twice();
  return (int)take(3);
}
// CHECK-LABEL: define internal void @twice(
// CHECK: call i32 @_TANDEM_begin(i32 {{[0-9]+}}, ptr @tandem.section.twice)
// CHECK-LABEL: define internal i64 @take(
// CHECK: %[[ACTION:.*]] = call i32 @_TANDEM_begin(i32 {{1|65537}}, ptr @tandem.section.take)
// CHECK: and i32 %[[ACTION]], 16
// CHECK: br i1 %{{.*}}, label %cancelled, label %run
// CHECK: run:
// CHECK: call i64 @take.tandem.body.tandem.tm(
// CHECK: call void @_ITM_commitTransaction()
// CHECK: cancelled:
// CHECK-NEXT: br label %leave
// CHECK: leave:
// CHECK-NEXT: phi i64 [ %{{.*}}, %run ], [ 0, %cancelled ]
// CHECK-LABEL: define internal i64 @take.tandem.body.tandem.tm(
// CHECK-NOT: @_ITM_changeTransactionMode
// CHECK: call void @check.tandem.tm(
// CHECK-LABEL: define internal void @twice.tandem.tm(
// CHECK: call i64 @take(i64
// CHECK-LABEL: define internal void @check.tandem.tm(
// CHECK: call void @tandem_cancel()
