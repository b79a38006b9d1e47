// A section that one place calls becomes part of it under hybrid, as it does without a
// transactional version: that one refers to it, too, so that the inliner would not know the call
// for the only one. RUN: %cc %s | env TANDEM_ENFORCE=hybrid %tandem | %FileCheck %s
#include <pthread.h>
#include <tandem/tandem.h>
static long counter, other;
TANDEM_ATOMIC static void once(long by) {
  counter += by;
  other += counter;
}
TANDEM_ATOMIC static void twice(long by) {
  other -= by;
  counter += other;
}
/* Part of no function that is called below itself: each level would have its locals. Where these
   are few, it is. */
TANDEM_ATOMIC static void recurring(long by) {
  volatile long locals[200];
  locals[by % 200] = by;
  counter -= locals[by / 200 % 200];
}
TANDEM_ATOMIC static void small(long by) { other -= by; }
static void recurse(long depth) {
  recurring(depth);
  small(depth);
  if (depth != 0)
    recurse(depth - 1);
}
/* Called by a section only, whose plain code has it as a part of itself already. */
TANDEM_ATOMIC static void nested(void) { other += counter; }
TANDEM_ATOMIC static void outer(void) {
  counter *= 3;
  nested();
}
static void *run(void *argument) {
  once(1);
  twice(2);
  twice(3);
  outer();
  recurse(counter);
  return argument;
}
int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, run, NULL);
  run(NULL);
  return pthread_join(thread, NULL);
}
// CHECK-LABEL: @run(
// CHECK: call void @once(i64 noundef 1) #[[INLINED:[0-9]+]]
// CHECK-NEXT: call void @twice(i64 noundef 2), !dbg
// CHECK-NEXT: call void @twice(i64 noundef 3), !dbg
// CHECK-NEXT: call void @outer() #[[INLINED]]
// So does its plain code, of which the enforced version has another call.
// CHECK-LABEL: define {{.*}}@twice(
// CHECK: call void @twice.tandem.body(i64 noundef %{{.*}}) #[[INLINED]], !dbg
// CHECK-LABEL: define internal void @recurse(
// CHECK: call void @recurring(i64 noundef %{{.*}}), !dbg
// CHECK: call void @small(i64 noundef %{{.*}}) #[[INLINED]]
// CHECK: attributes #[[INLINED]] = { alwaysinline }
