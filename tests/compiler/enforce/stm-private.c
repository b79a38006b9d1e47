// stm: variables that never leave the function, and constants, need no barrier; one that does, does.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
static const int table[4] = {1, 2, 3, 4};
static int counter;
static void add(int *to, int what) { *to += what; }
__attribute__((atomic)) int sum(int n) {
  int mine[2] = {0, 0}, passed = 0;
  for (int i = 0; i < n; ++i)
    mine[i & 1] += table[i & 3];
  add(&passed, mine[0]);
  return counter = passed;
}
int main(int argc, char **argv) { return sum(argc); }
// CHECK-LABEL: define internal {{.*}}@sum.tandem.tm(
// CHECK-NOT: call {{.*}}@_TANDEM_inline_{{R(fW)?}}U4(ptr @table
// CHECK-NOT: call {{.*}}@_ITM_{{.*}}%mine
// CHECK: call {{.*}}@_TANDEM_inline_WU4(ptr %passed
// CHECK: store i32 {{.*}}, ptr %arrayidx
// CHECK: call void @add.tandem.tm(ptr {{.*}}%passed
// CHECK: call void @_TANDEM_inline_WU4(ptr @counter
// CHECK-LABEL: define internal {{.*}}@add.tandem.tm(
// CHECK: call void @_TANDEM_inline_add_4(ptr %to, i32 %what,
