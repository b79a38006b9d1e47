// stm: what a section computes from its arguments alone, before it first touches shared memory, runs before the
// transaction; a path that touches none runs no transaction.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem | %FileCheck %s
static int found;
static int smallest_factor(int n) {
  for (int i = 2; i * i <= n; ++i)
    if (n % i == 0)
      return i;
  return 0;
}
__attribute__((atomic)) int count(int n) {
  if (smallest_factor(n) != 0)
    return 0;
  found *= 3;
  return 1;
}
int main(int argc, char **argv) { return count(argc); }
// CHECK-LABEL: define {{.*}}@count(
// CHECK-NOT: _ITM_
// CHECK: call i32 @smallest_factor(
// CHECK: br i1 %cmp, label %if.then, label %if.end
// CHECK: if.end:
// CHECK: call void @count.tandem.shared(
// CHECK-LABEL: define internal {{.*}}@count.tandem.shared(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal {{.*}}@count.tandem.shared.tandem.tm(
// CHECK-NOT: smallest_factor
// CHECK: call i32 @_TANDEM_inline_RfWU4(ptr @found, ptr %thread)
