// stm: a section begins no later than its first shared access; where a local must stay in memory, or a loop
// would enter the section again and again, the whole function is the transaction.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem | %FileCheck %s
static int total;
static int twice(int n) { return 2 * n; }
static void fill(int *to) { *to = 3; }
__attribute__((atomic)) void early(int n) { total *= twice(n); }
__attribute__((atomic)) void early_read(int n) {
  if (total > n)
    total = twice(n);
}
__attribute__((atomic)) void in_memory(int n) {
  int local = twice(n);
  fill(&local);
  total = local;
}
__attribute__((atomic)) void in_a_loop(int n) {
  for (int i = 0; i < n; ++i)
    total += i;
}
int main(int argc, char **argv) {
  early(argc);
  early_read(argc);
  in_memory(argc);
  in_a_loop(argc);
  return total;
}
// A call before the first access is worth it, even in one block.
// CHECK-LABEL: define {{.*}}@early(
// CHECK-NOT: _ITM_
// CHECK: call i32 @twice(
// CHECK: call void @early.tandem.shared(
// CHECK-LABEL: define {{.*}}@early_read(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define {{.*}}@in_memory(
// CHECK: call {{.*}}@_TANDEM_begin
// The loop is inside the transaction, not the transaction inside the loop.
// CHECK-LABEL: define {{.*}}@in_a_loop(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-NOT: br label %for.cond
// CHECK: ret void
