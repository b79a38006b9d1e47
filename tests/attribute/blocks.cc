// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// In C++ a block needs no plugin, and with another compiler C++17 and libtandem.
// RUN: %cxx -D__TANDEM__=1 -Wall -Wextra -Werror -pedantic -Wshadow -fsyntax-only -DGOOD %s
// RUN: %plain_cxx -std=c++17 -Wall -Wextra -Werror -pedantic -Wshadow -fsyntax-only -DGOOD %s
// RUN: %cxx -D__TANDEM__=1 -fsyntax-only -Xclang -verify %s
// RUN: %cxx -std=c++11 -D__TANDEM__=1 -Wall -Wextra -Werror -pedantic -fsyntax-only -DGOOD %s
// RUN: not %plain_cxx -fsyntax-only -DGOOD %s 2>&1 | %FileCheck %s
#include <tandem/tandem.h>
int x;
#ifdef GOOD
int leaves(int n) {
  for (int i = 0; i < n; ++i)
    if (i == 1)
      tandem_atomic {
        tandem_atomic {
          if (x == 3)
            continue;
        }
        if (x == 7)
          break;
      }
    else
      tandem_atomic { return x; }
  return 0;
}
// CHECK: error: tandem_atomic: needs C++17
#else
void jumps_in(int n) {
  if (n)
    goto in;      // expected-error {{cannot jump from this goto statement to its label}}
  tandem_atomic { // expected-note {{jump bypasses}}
  in:
    ++x;
  }
}
void breaks_from_nothing() {
  tandem_atomic { break; } // expected-error {{'break' statement not in loop or switch statement}}
}
#endif
