// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What a block allows is what a plain block allows, without a warning; no jump leads into one.
// RUN: %cc -D__TANDEM__=1 -Wall -Wextra -Werror -pedantic -fsyntax-only -DGOOD %s
// RUN: %cc -D__TANDEM__=1 -fsyntax-only -Xclang -verify %s
#include <tandem/tandem.h>
int x;
#ifdef GOOD
int returns(void) {
  tandem_atomic { return x; }
}
void leaves(int n) {
  for (int i = 0; i < n; ++i) {
    if (i == 1)
      tandem_atomic {
        if (x == 3)
          continue;
        if (x == 7)
          break;
      }
    else
      tandem_atomic { goto out; }
  }
  switch (n) {
  case 1:
    tandem_atomic {
      tandem_atomic { break; }
    }
  }
out:;
}
#else
void jumps_in(int n) {
  if (n)
    goto in; // expected-error {{a jump cannot enter an atomic block}}
  tandem_atomic {
  in: // expected-note {{label 'in' is in the block}}
    ++x;
    goto in;
  }
}
void breaks_from_nothing(void) {
  tandem_atomic { break; } // expected-error {{'break' statement not in loop or switch statement}}
}
void continues_nothing(void) {
  tandem_atomic { continue; } // expected-error {{'continue' statement not in loop statement}}
}
void case_inside(int n) {
  switch (n) {
  case 1:
    tandem_atomic {
    case 2: // expected-error {{a switch outside of an atomic block cannot jump into it}}
      ++x;
    }
  }
}
void computed(void) {
  void *there = &&inside; // expected-error {{a jump cannot enter an atomic block}}
  tandem_atomic {
  inside:        // expected-note {{label 'inside' is in the block}}
    goto *there; // expected-error {{a computed goto cannot leave an atomic block}}
  }
}
void no_block(void) {
  tandem_atomic++ x; // expected-error {{'tandem_atomic' marks a compound statement}}
}
#endif
