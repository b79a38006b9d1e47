// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The mark becomes an annotation, and the function stays out of its callers at every level.
// RUN: %cc -O0 -S -emit-llvm %s -o - | %FileCheck %s
// RUN: %cc -O2 -S -emit-llvm %s -o - | %FileCheck %s
// RUN: %cc -std=c23 -DC23 -O2 -S -emit-llvm %s -o - | %FileCheck %s
// CHECK: [[TEXT:@.str[.0-9]*]] = {{.*}}c"tandem.atomic\00", section "llvm.metadata"
// CHECK: @llvm.global.annotations = {{.*}}ptr @plain, ptr [[TEXT]],
// CHECK-SAME: ptr @keyword, ptr [[TEXT]],
// CHECK-SAME: ptr @local, ptr [[TEXT]],
// CHECK-SAME: ptr @forced, ptr [[TEXT]],
// CHECK-NOT: ptr @unmarked
// CHECK: define {{.*}}@plain({{.*}} [[ATTRIBUTES:#[0-9]+]]
// CHECK: define {{.*}}@caller(
// CHECK-DAG: call {{.*}}@local(
// CHECK-DAG: call {{.*}}@forced(
// CHECK: attributes [[ATTRIBUTES]] = { {{.*}}noinline
int x;

#ifdef C23
[[tandem::atomic]] void plain(void) { ++x; }
#else
__attribute__((atomic)) void plain(void) { ++x; }
#endif
__attribute__((__atomic__)) void keyword(void) { ++x; }
static __attribute__((atomic)) int local(void) { return ++x; }
__attribute__((atomic, always_inline)) inline static int forced(void) { return ++x; }
void unmarked(void) { ++x; }
int caller(void) { return local() + forced(); }
