// hybrid: a section that always performs an irrevocable action holds its colours exclusively; the
// others are transactions. Colours that those hold shared say so. In the phase of locks all of them
// run plain code with their colours held.
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
#include <stdio.h>
#include <tandem/tandem.h>
static int counter, other;
TANDEM_ATOMIC static void tell(void) { printf("%d\n", counter); }
TANDEM_ATOMIC static void tick(void) { ++counter; }
TANDEM_ATOMIC static void turn(int tells) {
  ++counter;
  if (tells)
    puts("turned");
}
TANDEM_ATOMIC static void toggle(void) { other *= 3; }
static void *run(void *argument) {
  tell();
  tick();
  turn(argument != NULL);
  toggle();
  return NULL;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// Colours: 5 = some member is irrevocable, some holds it shared; 0 = transactions only.
// CHECK-DAG: { ptr, i32, i32 } { ptr @{{[^,]*}}, i32 5, i32 0 }
// CHECK-DAG: { ptr, i32, i32 } { ptr @{{[^,]*}}, i32 0, i32 0 }
// kind 1 function; class 3 non-revocable, 2 hybrid, 1 pure; irrevocable at 2 begin, 3 reach, 1 never
// CHECK-DAG: @tandem.section.tell = {{.*}} { i32 1, i32 64, i8 1, i8 3, i8 2,
// CHECK-DAG: @tandem.section.tick = {{.*}} { i32 1, i32 64, i8 1, i8 2, i8 1,
// CHECK-DAG: @tandem.section.turn = {{.*}} { i32 1, i32 64, i8 1, i8 3, i8 3,
// CHECK-DAG: @tandem.section.toggle = {{.*}} { i32 1, i32 64, i8 1, i8 1, i8 1,
// CHECK-LABEL: define internal void @tell(
// CHECK: [[LOCKS:%.*]] = call i32 @_TANDEM_inline_phase_enter_colours(ptr @tandem.section.tell, i32 0)
// CHECK: own_locks:
// CHECK-NEXT: call void @tell.tandem.body()
// CHECK: enforced:
// CHECK-NEXT: call void @tell.tandem.enforced()
// CHECK: leave:
// CHECK-NEXT: call void @_TANDEM_inline_phase_leave_colours(ptr @tandem.section.tell)
// CHECK-NEXT: ret void
// CHECK: define internal void @turn.tandem.tm(
// CHECK: call void @_ITM_changeTransactionMode(i32 0)
// CHECK-NEXT: call i32 @puts(
// CHECK-LABEL: define internal void @tell.tandem.enforced(
// CHECK: call void @_TANDEM_colours_enter(ptr @tandem.section.tell)
// CHECK-NEXT: call void @tell.tandem.body()
// CHECK-NEXT: call void @_TANDEM_colours_leave(ptr @tandem.section.tell)
// CHECK-NEXT: ret void
// CHECK-LABEL: define internal void @tick.tandem.enforced(
// CHECK: call i32 @_TANDEM_begin(i32 11, ptr @tandem.section.tick)
// CHECK-LABEL: define internal void @turn.tandem.enforced(
// CHECK: call i32 @_TANDEM_begin(i32 11, ptr @tandem.section.turn)
// REPORT: "requested": "hybrid"
// REPORT-NEXT: "used": "hybrid"
