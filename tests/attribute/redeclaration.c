// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mark on a declaration holds for the definition that follows, and for functions of other files.
// RUN: %cc -O2 -S -emit-llvm %s -o - | %FileCheck %s
// CHECK: @llvm.global.annotations =
// CHECK-SAME: ptr @defined_later,
// CHECK-SAME: ptr @marked_second,
// CHECK-SAME: ptr @elsewhere,
__attribute__((atomic)) void defined_later(void);
void defined_later(void);
void marked_second(void);
__attribute__((atomic)) void marked_second(void);
__attribute__((atomic)) void elsewhere(void);

int x;
void defined_later(void) { ++x; }
void marked_second(void) { --x; }
void caller(void) { elsewhere(); }
