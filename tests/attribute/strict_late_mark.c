// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A strict mark after the definition would be lost, even where the function is a section already.
// RUN: not %cc -w -c %s -o %t.o 2> %t.err
// RUN: %FileCheck %s < %t.err
// RUN: not ls %t.o
// CHECK: strict_late_mark.c:[[#@LINE+4]]:{{[0-9]+}}: error: 'atomic_strict' comes after the definition of 'late', which it cannot change any more; mark the first declaration
// CHECK: strict_late_mark.c:[[#@LINE+2]]:{{[0-9]+}}: note: previous definition is here
int x;
__attribute__((atomic)) void late(void) { ++x; }
__attribute__((atomic_strict))
void late(void);
