// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A compile step that optimises before the pass says so in the annotation.
// RUN: %cc -D__TANDEM_OPTIMISED__ -O2 -S -emit-llvm %s -o - | %FileCheck %s
// CHECK: c"tandem.atomic.optimised\00", section "llvm.metadata"
int x;
__attribute__((atomic)) void section(void) { ++x; }
