// stm: an update that adds, and whose result nothing else looks at, becomes an addition; not where the value is used,
// where something may have written in between, for other operations and widths, and for memory that is private.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <stdlib.h>
#include <tandem/tandem.h>
static long total;
static unsigned count;
static short narrow;
static long volatile seen;
static long *other = &total;
TANDEM_ATOMIC void yes(long by) {
  total += by;
  count -= 2;
}
TANDEM_ATOMIC void also(long by) {
  total = by * 2 + total;
  count = 0;
}
TANDEM_ATOMIC long used(long by) {
  count = 0;
  return total += by;
}
TANDEM_ATOMIC void written(long by) {
  long before = total;
  *other = 0;
  total = before + by;
}
TANDEM_ATOMIC void unlike(long by) {
  total = by - total;
  total *= 2;
  ++narrow;
  ++seen;
}
TANDEM_ATOMIC void *fresh(void) {
  long *made = malloc(sizeof *made);
  *made = total;
  ++*made;
  return made;
}
int main(int argc, char **argv) {
  (void)argv;
  yes(argc);
  also(argc);
  written(argc);
  unlike(argc);
  free(fresh());
  other = malloc(8);
  return (int)used(argc);
}
// CHECK-LABEL: define internal {{.*}}@yes.tandem.tm(
// CHECK: call void @_TANDEM_inline_add_8(ptr @total, i64 %by, ptr %thread)
// CHECK: call void @_TANDEM_inline_add_4(ptr @count, i32 -2, ptr %thread)
// CHECK: ret void
// CHECK-LABEL: define internal {{.*}}@also.tandem.tm(
// CHECK: call void @_TANDEM_inline_add_8(ptr @total, i64 %{{.*}}, ptr %thread)
// CHECK: ret void
// CHECK-LABEL: define internal {{.*}}@used.tandem.tm(
// CHECK-NOT: inline_add
// CHECK: ret i64
// CHECK-LABEL: define internal {{.*}}@written.tandem.tm(
// CHECK-NOT: inline_add
// CHECK: ret void
// CHECK-LABEL: define internal {{.*}}@unlike.tandem.tm(
// CHECK-NOT: inline_add
// CHECK: ret void
// CHECK-LABEL: define internal {{.*}}@fresh.tandem.shared.tandem.tm(
// CHECK-NOT: inline_add
// CHECK: ret void
// REPORT: "deferred_updates": 3
