// stm: a variadic section's body takes its caller's list, so that a restart reads the arguments again.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <stdarg.h>
static long total;
__attribute__((atomic)) void add(int n, ...) {
  va_list list;
  va_start(list, n);
  while (n-- > 0)
    total += va_arg(list, long);
  va_end(list);
}
int main(void) {
  add(2, 1L, 2L);
  return (int)total;
}
// CHECK-LABEL: define {{.*}}@add(i32 {{.*}}, ...)
// CHECK: call void @llvm.va_start{{.*}}(ptr %[[LIST:.*]])
// CHECK: call i32 @_TANDEM_begin
// CHECK: call void @add.tandem.tm(i32 {{.*}}, ptr {{.*}}%[[LIST]])
// CHECK-LABEL: define internal {{.*}}@add.tandem.tm(
// CHECK-NOT: va_start
// CHECK: call void @llvm.va_copy
