// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The strict mark is one more annotation beside that of a section; a foreign compiler stops at the
// macro, unless there is one thread.
// RUN: %cc -D__TANDEM__=1 -O2 -S -emit-llvm %s -o - | %FileCheck %s
// RUN: %cxx -x c++ -D__TANDEM__=1 -S -emit-llvm %s -o - | %FileCheck %s
// CHECK: [[ATOMIC:@.str[.0-9]*]] = {{.*}}c"tandem.atomic\00", section "llvm.metadata"
// CHECK: [[STRICT:@.str[.0-9]*]] = {{.*}}c"tandem.atomic.strict\00", section "llvm.metadata"
// CHECK: @llvm.global.annotations =
// CHECK-DAG: ptr @{{(_Z5)?macro(v)?}}, ptr [[ATOMIC]],
// CHECK-DAG: ptr @{{(_Z5)?macro(v)?}}, ptr [[STRICT]],
// CHECK: attributes #0 = { {{.*}}noinline
//
// RUN: not %plain_cc -fsyntax-only %s 2>&1 | %FileCheck --check-prefix=FOREIGN %s
// RUN: not gcc -fsyntax-only -I%S/../../include %s 2>&1 | %FileCheck --check-prefix=FOREIGN %s
// FOREIGN: error: TANDEM_ATOMIC_STRICT: use tandem-cc, or -DTANDEM_SEQUENTIAL
// RUN: %plain_cc -DTANDEM_SEQUENTIAL -Wall -Wextra -Wpedantic -Werror -fsyntax-only %s
// RUN: gcc -DTANDEM_SEQUENTIAL -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%S/../../include %s
// RUN: g++ -x c++ -DTANDEM_SEQUENTIAL -Wall -Wextra -Wpedantic -Werror -fsyntax-only -I%S/../../include %s
#include <tandem/tandem.h>
int x;
TANDEM_ATOMIC_STRICT void macro(void);
void macro(void) { ++x; }
