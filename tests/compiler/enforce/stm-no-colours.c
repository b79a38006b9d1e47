// stm, htm: sections have no colours and are pure for the runtime, whatever the plan says: what is
// irrevocable runs alone.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %cc %s | env TANDEM_ENFORCE=htm %tandem | %FileCheck %s
#include <pthread.h>
#include <stdio.h>
#include <tandem/tandem.h>
static int counter;
TANDEM_ATOMIC static void tell(void) { printf("%d\n", ++counter); }
static void *run(void *argument) {
  tell();
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  tell();
  return pthread_join(thread, NULL);
}
// CHECK-DAG: @tandem.section.tell = {{.*}} { i32 1, i32 64, i8 1, i8 1, i8 1, i8 0, i32 0, i32 {{[0-9]+}}, i32 0, ptr @{{.*}}, ptr @{{.*}}, ptr null, ptr null, ptr @tandem.colour_table }
// CHECK-DAG: @tandem.colour_table = internal global {{.*}} { i32 1, i32 48, i32 0, i32 0, i32 1, i32 {{[0-9]+}}, ptr @{{.*}}, ptr null, ptr null }
// CHECK: call i32 @_TANDEM_begin(i32 74, ptr @tandem.section.tell)
