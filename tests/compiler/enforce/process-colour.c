// Sections of a library that touch what others can reach, or conflict with sections that others may
// run, have the colour that all outputs of the process share, and are not pure; others have colours
// of the library's own.
// RUN: %cc %s | env TANDEM_ENFORCE=hybrid %library > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
#include <tandem/tandem.h>
int exported;
static int hidden, called;
TANDEM_ATOMIC void open_count(void) { ++exported; }
TANDEM_ATOMIC void given(int *where) { ++*where; }
TANDEM_ATOMIC void call(void) { ++called; }
TANDEM_ATOMIC static void own_count(void) { hidden *= 3; }
TANDEM_ATOMIC static void own_call(void) { ++called; }
static void *run(void *argument) {
  own_count();
  own_call();
  return argument;
}
__attribute__((constructor)) static void start(void) {
  pthread_t thread;
  for (int i = 0; i < 2; ++i)
    pthread_create(&thread, NULL, run, NULL);
}
// Flags 7: some section is irrevocable, of the process, held shared.
// CHECK-DAG: @[[STAR:[a-z.0-9]+]] = internal unnamed_addr constant [2 x i8] c"*\00"
// CHECK-DAG: [{ ptr, i32, i32 } { ptr @[[STAR]], i32 7, i32 0 }, { ptr, i32, i32 } { ptr @{{.*}}, i32 0, i32 0 }]
// CHECK-DAG: @tandem.section.open_count = {{.*}} { i32 1, i32 64, i8 1, i8 2,
// CHECK-DAG: @tandem.section.given = {{.*}} { i32 1, i32 64, i8 1, i8 2,
// CHECK-DAG: @tandem.section.call = {{.*}} { i32 1, i32 64, i8 1, i8 2,
// CHECK-DAG: @tandem.section.own_call = {{.*}} { i32 1, i32 64, i8 1, i8 2,
// CHECK-DAG: @tandem.section.own_count = {{.*}} { i32 1, i32 64, i8 1, i8 1,
// REPORT-LABEL: "name": "open_count"
// REPORT: "colours": [
// REPORT-NEXT: "*"
// REPORT-NEXT: ]
// REPORT-LABEL: "name": "given"
// REPORT: "colours": [
// REPORT-NEXT: "*"
// REPORT-NEXT: ]
// REPORT-LABEL: "name": "own_count"
// REPORT: "colours": [
// REPORT-NEXT: "A"
// REPORT-NEXT: ]
