/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Loops that gcc makes vectors of, as wide as its options say: what is read, written, and read back
 * in a transaction that can be undone, and one that is undone.
 */
#include "check.h"

enum { SIZE = 96 };

static int from[SIZE], to[SIZE];
static double halves[SIZE];

__attribute__((noinline)) static void shift(int by) {
  __transaction_atomic {
    for (int i = 0; i < SIZE; ++i)
      to[i] = from[i] * 3 + by;
  }
}

/* With a cancel it has no other code than the instrumented one. */
__attribute__((noinline)) static void add(int by, int keep) {
  __transaction_atomic {
    for (int i = 0; i < SIZE; ++i)
      to[i] += by;
    for (int i = 0; i < SIZE; ++i)
      halves[i] = halves[i] / 2 + to[i];
    if (!keep)
      __transaction_cancel;
  }
}

int main(void) {
  have_a_second_thread();
  for (int i = 0; i < SIZE; ++i) {
    from[i] = i;
    halves[i] = 2 * i;
  }
  shift(7);
  for (int i = 0; i < SIZE; ++i)
    EXPECT(to[i] == 3 * i + 7);
  for (int round = 0; round < 3; ++round) {
    add(1000, 0);
    for (int i = 0; i < SIZE; ++i)
      EXPECT(to[i] == 3 * i + 7 && halves[i] == 2 * i);
  }
  add(5, 1);
  for (int i = 0; i < SIZE; ++i)
    EXPECT(to[i] == 3 * i + 12 && halves[i] == i + 3 * i + 12);
  return 0;
}
