/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Calls two functions of libraries, once outside and once inside a transaction.
 */
#include <stdio.h>

__attribute__((transaction_pure)) int first(void);
__attribute__((transaction_pure)) int second(void);

static int total;

int main(void) {
  const int before = first();
  __transaction_atomic { total += first() + second(); }
  printf("%d %d\n", before, total);
  return 0;
}
