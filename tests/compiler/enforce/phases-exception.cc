// A section that an exception may leave, in the phases of hybrid: its call of the plain body becomes an invoke, and the
// lock is given back on both ways out. At every level, whatever becomes of the call before.
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %cxx -std=c++20 -O0 %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
// RUN: %cxx -std=c++20 %s | env TANDEM_ENFORCE=hybrid %optimised 2>/dev/null | %FileCheck --check-prefix=WHOLE %s
static long x;
static void f() { x++; }
__attribute__((atomic)) void step() { f(); }
int main() { step(); }
// CHECK-LABEL: define {{.*}}void @_Z4stepv()
// CHECK: call i32 @_TANDEM_inline_phase_enter_colours(
// CHECK: invoke {{.*}}void @_Z4stepv.tandem.body()
// CHECK: invoke {{.*}}void @_Z4stepv.tandem.enforced()
// CHECK: landingpad
// CHECK: _TANDEM_inline_phase_leave_colours
// CHECK: resume
// WHOLE: @main
