// stm: a place that a section reads twice is read once, and of two writes the last one remains; not where other
// code may have written in between, and not without optimisation.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <tandem/tandem.h>
static long total, limit;
__attribute__((noinline)) static void reset(void) { total = 0; }
TANDEM_ATOMIC long add(long by) {
  long sum = total;
  total = sum + by;
  sum += total;
  total = sum;
  reset();
  return total + limit + limit;
}
__attribute__((optnone, noinline)) static void slow(void) { total = total * total; }
TANDEM_ATOMIC void twice(void) { slow(); }
int main(int argc, char **argv) {
  twice();
  return (int)add(argc) + (argv == 0);
}
// CHECK-LABEL: define internal {{.*}}@add.tandem.tm(
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @total, ptr %thread)
// CHECK-NOT: call {{.*}}_ITM_
// CHECK: call void @_TANDEM_inline_WU8(ptr @total,
// CHECK-NOT: call {{.*}}_ITM_
// CHECK: call void @reset.tandem.tm()
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @total, ptr %thread)
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @limit, ptr %thread)
// CHECK-NOT: call {{.*}}_ITM_
// CHECK: ret i64
// CHECK-LABEL: define internal {{.*}}@slow.tandem.tm(
// CHECK: call i64 @_ITM_{{R(fW)?}}U8(ptr @total)
// CHECK: call i64 @_ITM_{{R(fW)?}}U8(ptr @total)
// CHECK: call void @_ITM_WU8(ptr @total,
// REPORT: "merged": 3,
