// global-lock: enter before the body, leave before every return; the fast path is linked in.
// RUN: %cc %s | env TANDEM_ENFORCE=global-lock %tandem | %FileCheck %s
static int counter;
__attribute__((atomic)) int tick(int stop) {
  if (stop)
    return counter;
  return ++counter;
}
int main(int argc, char **argv) { return tick(argc); }
// CHECK: @tandem.section.tick = internal unnamed_addr constant {{.*}}, align 64
// CHECK-LABEL: define {{.*}}@tick(
// CHECK: call void @_TANDEM_inline_global_lock_enter(ptr @tandem.section.tick)
// CHECK: load {{.*}}@counter
// CHECK: call void @_TANDEM_inline_global_lock_leave(ptr @tandem.section.tick)
// CHECK-NEXT: ret
// CHECK: define internal {{.*}}@_TANDEM_inline_global_lock_enter
