// An exception that leaves a block leaves its function, and goes on to the handlers around the block;
// a handler inside the block stays inside.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=stm %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
#include <tandem/tandem.h>
static int counter;
void may_throw();
int main() {
  try {
    tandem_atomic {
      try {
        may_throw();
      } catch (char) {
        ++counter;
      }
    }
  } catch (int) {
    return 1;
  }
  return 0;
}
// CHECK-LABEL: define {{.*}} @main(
// CHECK: invoke {{.*}} @main.tandem.block(
// CHECK: landingpad
// CHECK-NEXT: cleanup
// CHECK-NEXT: catch ptr @_ZTIi
// CHECK-NOT: catch ptr @_ZTIc
// CHECK: define {{.*}} @main.tandem.block.tandem.body(
// CHECK: landingpad
// CHECK-NEXT: cleanup
// CHECK-NEXT: catch ptr @_ZTIc
// CHECK-NOT: catch ptr @_ZTIi
// CHECK: call i32 @llvm.eh.typeid.for.p0(ptr @_ZTIc)
// CHECK: resume
