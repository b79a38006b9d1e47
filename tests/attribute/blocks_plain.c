// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Without tandem-cc a block in C is an error, or nothing in a program of one thread.
// RUN: not %plain_cc -fsyntax-only %s 2>&1 | %FileCheck %s
// RUN: %plain_cc -DTANDEM_SEQUENTIAL -Wall -Wextra -Werror -fsyntax-only %s
#include <tandem/tandem.h>
int x;
void f(void) {
  tandem_atomic { ++x; }
}
// CHECK: error: tandem_atomic: compile with tandem-cc, or with -DTANDEM_SEQUENTIAL
