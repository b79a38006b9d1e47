// stm: a call through a pointer asks the runtime for the clone; the table tells it which there are, from before
// the program's own constructors until after its destructors.
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
// CHECK-DAG: @llvm.global_ctors = {{.*}}{ i32 100, ptr @tandem.register_clones,
// CHECK-DAG: @llvm.global_dtors = {{.*}}{ i32 100, ptr @tandem.deregister_clones,
// CHECK-LABEL: define internal {{.*}}@tick.tandem.tm(
// CHECK: %[[CLONE:.*]] = call ptr @_ITM_getTMCloneOrIrrevocable(ptr %{{.*}})
// CHECK-NEXT: call void %[[CLONE]](i32 {{.*}}2)
// CHECK-LABEL: define internal void @tandem.register_clones()
// CHECK: call void @_ITM_registerTMCloneTable(ptr @tandem.clone_table, i64 2)
// CHECK-LABEL: define internal void @tandem.deregister_clones()
// CHECK: call void @_ITM_deregisterTMCloneTable(ptr @tandem.clone_table)
