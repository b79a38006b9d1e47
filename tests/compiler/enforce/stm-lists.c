// Lists of variable arguments: va_start and va_copy on memory that others see are written as any store, through the
// log; on a list of the function's own they stay.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %FileCheck --check-prefix=REPORT --input-file=%t.json %s
#include <stdarg.h>
static va_list shared;
static long seen;
__attribute__((noinline)) static void begin(int n, ...) {
  va_start(shared, n);
  seen = va_arg(shared, long);
  va_end(shared);
}
__attribute__((noinline)) static void copy(int n, ...) {
  va_list own, other;
  va_start(own, n);
  va_copy(shared, own);
  va_copy(other, shared);
  seen += va_arg(other, long) + va_arg(own, long);
  va_end(other);
  va_end(own);
}
__attribute__((atomic)) void section(long v) {
  begin(1, v);
  copy(1, v);
}
int main(void) {
  section(1);
  return 0;
}
// CHECK-LABEL: define {{.*}} @begin.tandem.tm(
// CHECK: %[[LIST:.*]] = alloca [24 x i8], align 16
// CHECK: call void @llvm.va_start.p0(ptr %[[LIST]])
// CHECK-NEXT: call void @_ITM_memcpyRnWt(ptr @shared, ptr %[[LIST]], i64 24)
// CHECK-LABEL: define {{.*}} @copy.tandem.tm(
// CHECK: call void @llvm.va_start.p0(ptr {{.*}}%own)
// CHECK: call void @_ITM_memcpyRnWt(ptr @shared, ptr %own, i64 24)
// CHECK: call void @_ITM_memcpyRtWn(ptr %other, ptr @shared, i64 24)
// REPORT: "irrevocable_at": "never"
