// stm: the function begins, runs the plain body or the transactional one, and commits.
// RUN: %cc %s | env TANDEM_ENFORCE=stm TANDEM_SHORT_SECTIONS=0 %tandem | %FileCheck %s
static int counter;
__attribute__((atomic)) int tick(int by) { return counter *= by; }
int main(int argc, char **argv) { return tick(argc); }
// CHECK-LABEL: define {{.*}}@tick(
// CHECK: %[[ACTION:.*]] = call i32 @_TANDEM_begin(i32 11, ptr @tandem.section.{{[^)]*}}) #[[TWICE:[0-9]+]]
// CHECK: and i32 %[[ACTION]], 2
// CHECK: %[[PLAIN:.*]] = call i32 @tick.tandem.body(i32 {{.*}})
// CHECK: %[[CLONE:.*]] = call i32 @tick.tandem.tm(i32 {{.*}})
// CHECK: %[[RESULT:.*]] = phi i32 [ %[[PLAIN]], %plain ], [ %[[CLONE]], %transactional ]
// CHECK: call void @_ITM_commitTransaction()
// CHECK: ret i32 %[[RESULT]]
// CHECK-LABEL: define internal {{.*}}@tick.tandem.body(
// CHECK-NOT: _ITM_
// CHECK: load i32, ptr @counter
// CHECK-LABEL: define internal {{.*}}@tick.tandem.tm(
// CHECK: call i32 @_TANDEM_inline_{{R(fW)?}}U4(ptr @counter, ptr %thread)
// CHECK: call void @_TANDEM_inline_WU4(ptr @counter, i32 {{.*}}, ptr %thread)
// CHECK: attributes #[[TWICE]] = { returns_twice }
