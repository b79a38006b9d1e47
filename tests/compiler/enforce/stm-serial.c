// stm: a section that always performs an irrevocable action is serial from its begin and has one body.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
#include <stdio.h>
static int counter;
__attribute__((atomic)) void tell(void) { printf("%d\n", counter); }
int main(void) {
  ++counter;
  tell();
  return 0;
}
// 2 uninstrumented | 8 no cancel | 64 goes irrevocable
// CHECK-LABEL: define {{.*}}@tell(
// CHECK: call i32 @_TANDEM_begin(i32 74, ptr @tandem.section.{{[^)]*}})
// CHECK-NOT: call {{.*}}@tell.tandem.tm
// CHECK: call void @tell.tandem.body()
// CHECK-NEXT: br label %commit
