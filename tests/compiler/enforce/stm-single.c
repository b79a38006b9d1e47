// stm: a section that is one read, write or update of a word is one atomic instruction, if all that may conflict with it
// are such ones. Inside of other sections it is part of them. Where the process is profiled it is counted.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem > %t.ll
// RUN: %FileCheck %s --input-file=%t.ll
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
#include <tandem/tandem.h>
static long alone, shared, looped, scaled, nested, listed;
TANDEM_ATOMIC static long add(long by) { return alone -= by; }
TANDEM_ATOMIC static void reset(void) { alone = 0; }
TANDEM_ATOMIC static long get(void) { return alone; }
TANDEM_ATOMIC static void one(void) { ++shared; }
TANDEM_ATOMIC static void two(void) {
  ++shared;
  scaled = shared;
}
TANDEM_ATOMIC static void often(int n) {
  for (int i = 0; i < n; ++i)
    ++looped;
}
TANDEM_ATOMIC static void inner(void) { nested |= 4; }
TANDEM_ATOMIC static void outer(void) {
  inner();
  inner();
}
TANDEM_ATOMIC static void variadic(int n, ...) { listed += n; }
static void *run(void *argument) {
  add((long)argument);
  reset();
  one();
  two();
  often(3);
  inner();
  outer();
  variadic(1);
  return (void *)get();
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK-LABEL: define internal i64 @add(
// CHECK-NOT: _TANDEM_begin
// CHECK: %[[PROFILED:.*]] = load i8, ptr @_TANDEM_profiled
// CHECK-NEXT: %[[COUNTS:.*]] = icmp ne i8 %[[PROFILED]], 0
// CHECK-NEXT: br i1 %[[COUNTS]],
// CHECK: call void @_TANDEM_count(ptr @tandem.section.add)
// CHECK: %[[OLD:.*]] = atomicrmw sub ptr @alone, i64 %{{.*}} seq_cst
// CHECK: sub nsw i64 %[[OLD]], %
// CHECK-LABEL: define internal void @reset(
// CHECK: store atomic i64 0, ptr @alone seq_cst
// CHECK-LABEL: define internal void @one(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal void @two(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal void @often(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal void @inner(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal void @outer(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal void @variadic(
// CHECK: call {{.*}}@_TANDEM_begin
// CHECK-LABEL: define internal i64 @get(
// CHECK: load atomic i64, ptr @alone seq_cst
// REPORT: "atomics": 3
