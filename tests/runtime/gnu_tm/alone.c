/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A process that never has a second thread. Its transactions nest, by calls and in place. */
#include "check.h"

static long cell;

__attribute__((transaction_safe, noinline)) static void nested(void) {
  __transaction_atomic { ++cell; }
}

int main(void) {
  for (int i = 0; i < 20; ++i)
    __transaction_atomic {
      ++cell;
      nested();
      __transaction_atomic {
        if (cell < 0)
          __transaction_cancel;
        ++cell;
      }
    }
  EXPECT(cell == 60);
  return 0;
}
