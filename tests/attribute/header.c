// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// TANDEM_ATOMIC marks under tandem-cc; a foreign compiler stops, unless there is one thread.
// RUN: %cc -D__TANDEM__=1 -S -emit-llvm %s -o - | %FileCheck %s
// RUN: %cxx -x c++ -D__TANDEM__=1 -S -emit-llvm %s -o - | %FileCheck %s
// CHECK: c"tandem.atomic\00", section "llvm.metadata"
// CHECK: attributes #0 = { {{.*}}noinline
//
// RUN: not %plain_cc -fsyntax-only %s 2>&1 | %FileCheck --check-prefix=FOREIGN %s
// RUN: not %plain_cxx -x c++ -fsyntax-only %s 2>&1 | %FileCheck --check-prefix=FOREIGN %s
// RUN: not gcc -fsyntax-only -I%S/../../include %s 2>&1 | %FileCheck --check-prefix=FOREIGN %s
// RUN: not g++ -x c++ -fsyntax-only -I%S/../../include %s 2>&1 | %FileCheck --check-prefix=FOREIGN %s
// FOREIGN: error: TANDEM_ATOMIC: compile with tandem-cc, or with -DTANDEM_SEQUENTIAL
// RUN: %plain_cc -DTANDEM_SEQUENTIAL -Wall -Wextra -Wpedantic -Werror -fsyntax-only %s
// RUN: gcc -DTANDEM_SEQUENTIAL -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%S/../../include %s
#include <tandem/abi.h>
#include <tandem/tandem.h>
int x;
TANDEM_ATOMIC void section(void);
TANDEM_ATOMIC void section(void) { ++x; }
