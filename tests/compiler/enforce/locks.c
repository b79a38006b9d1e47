// locks: a section holds its colours around its body, on every way out; one that conflicts with no
// other needs none. No colour is ever held shared.
// RUN: %cc %s | env TANDEM_ENFORCE=locks %tandem | %FileCheck %s
#include <pthread.h>
#include <tandem/tandem.h>
static int counter, lonely;
TANDEM_ATOMIC static int tick(int stop) {
  if (stop)
    return counter;
  return ++counter;
}
TANDEM_ATOMIC static int alone(void) { return ++lonely; }
static void *run(void *argument) {
  tandem_atomic {
    if (argument != NULL)
      return NULL;
    ++counter;
  }
  return argument;
}
int main(int argc, char **argv) {
  (void)argv;
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  tick(argc);
  alone();
  return pthread_join(thread, NULL);
}
// CHECK-DAG: @[[LIST:tandem.colour_list]] = internal unnamed_addr constant [1 x { ptr, i32, i32 }] [{ ptr, i32, i32 } { ptr @{{.*}}, i32 0, i32 0 }]
// CHECK-DAG: @tandem.section.tick = {{.*}}, align 64
// CHECK-LABEL: define {{.*}}@run(
// CHECK: call void @_TANDEM_colours_enter(ptr @tandem.section.run_1)
// CHECK: call void @_TANDEM_colours_leave(ptr @tandem.section.run_1)
// CHECK-LABEL: define internal i32 @tick(
// CHECK: call void @_TANDEM_colours_enter(ptr @tandem.section.tick)
// CHECK: load {{.*}}@counter
// CHECK: call void @_TANDEM_colours_leave(ptr @tandem.section.tick)
// CHECK-NEXT: ret
// CHECK-LABEL: define internal i32 @alone(
// CHECK-NOT: _TANDEM_colours
// CHECK: ret i32
