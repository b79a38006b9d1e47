/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A program with an atomic section, for an installed tandem-cc: two threads count. Prints the
 * count.
 */
#include <tandem/tandem.h>

#include <pthread.h>
#include <stdio.h>

enum { kRounds = 100000 };

static long counter;

TANDEM_ATOMIC static void increment(void) { ++counter; }

static void *count(void *unused) {
  for (int round = 0; round < kRounds; ++round)
    increment();
  return unused;
}

int main(void) {
  pthread_t other;
  if (pthread_create(&other, NULL, count, NULL) != 0)
    return 1;
  count(NULL);
  pthread_join(other, NULL);
  printf("%ld\n", counter);
  return 0;
}
