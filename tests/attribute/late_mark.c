// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A mark after the definition would be lost, so it is an error, with warnings switched off too; no object
// is left.
// RUN: not %cc -w -c %s -o %t.o 2> %t.err
// RUN: %FileCheck %s < %t.err
// RUN: not ls %t.o
// CHECK: late_mark.c:[[#@LINE+4]]:{{[0-9]+}}: error: 'atomic' comes after the definition of 'late', which it cannot change any more; mark the first declaration
// CHECK: late_mark.c:[[#@LINE+2]]:{{[0-9]+}}: note: previous definition is here
int x;
void late(void) { ++x; }
__attribute__((atomic))
void late(void);
