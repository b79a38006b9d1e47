// stm: a call through a pointer asks the runtime for the clone; the table tells it which there are.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
static int counter;
static void up(int by) { counter += by; }
static void down(int by) { counter -= by; }
static void (*volatile step)(int) = up;
__attribute__((atomic)) void tick(void) { step(2); }
int main(int argc, char **argv) {
  if (argc > 1)
    step = down;
  tick();
  return counter;
}
// CHECK: @tandem.clone_table = internal global [2 x { ptr, ptr }]
// CHECK-SAME: { ptr @up, ptr @up.tandem.tm }
// CHECK-SAME: section ".tm_clone_table"
// CHECK-LABEL: define internal {{.*}}@tick.tandem.tm(
// CHECK: %[[CLONE:.*]] = call ptr @_ITM_getTMCloneOrIrrevocable(ptr %{{.*}})
// CHECK-NEXT: call void %[[CLONE]](i32 {{.*}}2)
