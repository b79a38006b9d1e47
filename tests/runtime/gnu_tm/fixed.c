/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Linked to a fixed address and lazily: the address of a library's function that the program takes
 * is its own code, which calls the function.
 */
#include "check.h"

static long total;
static pid_t (*volatile parent)(void);

int main(void) {
  parent = getppid;
  have_a_second_thread();
  __transaction_atomic { ++total; }
  EXPECT(total == 1);
  EXPECT(getppid() == parent());
  return 0;
}
