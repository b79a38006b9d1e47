// Transactions: a section that shares nothing stays plain code, whatever it computes; one that reads does not.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_REPORT=%t.json %tandem | %FileCheck %s
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <tandem/tandem.h>
long shared;
static long twice(long value) { return 2 * value; }
// CHECK-LABEL: define {{.*}}@nothing(
// CHECK-NEXT: entry:
// CHECK-NEXT: ret void
TANDEM_ATOMIC void nothing(void) {}
// CHECK-LABEL: define {{.*}}@computes(
// CHECK-NOT: @_TANDEM_begin(
// CHECK-NOT: @_TANDEM_short_begin(
// CHECK: ret i64
TANDEM_ATOMIC long computes(long value) {
  long sum = 0;
  for (long i = 0; i < value; ++i)
    sum += twice(i);
  return sum;
}
// CHECK-LABEL: define {{.*}}@reads(
// CHECK: ret i64
TANDEM_ATOMIC long reads(long value) {
  for (long i = 0; i < value; ++i)
    shared += i;
  return shared;
}
// One within another is part of that.
// CHECK-LABEL: define internal {{.*}}@around{{.*}}.tandem.tm(
// CHECK: call {{.*}}@nothing.tandem.tm(
TANDEM_ATOMIC long around(long value) {
  for (long i = 0; i < value; ++i)
    shared += i;
  nothing();
  return shared;
}
// REPORT-DAG: "name": "nothing"
// REPORT-DAG: "name": "computes"
int main(int argc, char **argv) {
  (void)argv;
  nothing();
  return (int)(computes(argc) + reads(argc) + around(argc));
}
