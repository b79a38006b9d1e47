// stm: the report counts what became of the accesses. Counters of coverage stay plain.
// RUN: %cc %s | env TANDEM_ENFORCE=stm %tandem | %FileCheck %s
// RUN: %FileCheck %s --check-prefix=REPORT --input-file=%t.json
#include <pthread.h>
#include <stdio.h>
#include <tandem/tandem.h>
static long __profc_tick[1];
static long total;
TANDEM_ATOMIC static long tick(long by) {
  long local[2] = {by, by};
  ++__profc_tick[0];
  total += local[by & 1];
  if (by == 7)
    puts("seven");
  return total;
}
static void *run(void *argument) {
  tick((long)argument);
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  tick(1);
  return pthread_join(thread, NULL);
}
// CHECK-LABEL: define internal i64 @tick.tandem.tm(
// CHECK: store i64 %{{.*}}, ptr @__profc_tick
// CHECK: call i64 @_TANDEM_inline_{{R(fW)?}}U8(ptr @total, ptr %thread)
// REPORT: "instrumentation": {
// REPORT-NEXT: "clones": 1,
// REPORT-NEXT: "barriers": 3,
// REPORT-NEXT: "plain": {{[1-9]}},
// REPORT-NEXT: "captured": 0,
// REPORT-NEXT: "unwritten": 0,
// REPORT-NEXT: "merged": {{[0-9]+}},
// REPORT-NEXT: "counters": 2,
// REPORT-NEXT: "irrevocable": 1
