/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A process that never has a second thread. */
#include "check.h"

int main(void) {
  static long cell;
  for (int i = 0; i < 20; ++i)
    __transaction_atomic { ++cell; }
  EXPECT(cell == 20);
  return 0;
}
