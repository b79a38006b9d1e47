/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Many threads whose long transactions write the same places in opposite orders: where delays stay
 * short they make each other begin again for ever. */
#include <pthread.h>
#include <stddef.h>

enum { kThreads = 100, kRounds = 5, kPlaces = 4096, kLine = 8 };
static long places[kPlaces * kLine];

static void *work(void *number) {
  const int backwards = (long)number & 1;
  for (int round = 0; round < kRounds; ++round)
    __transaction_atomic {
      for (int i = 0; i < kPlaces; ++i)
        places[(backwards ? kPlaces - 1 - i : i) * kLine] += 1;
    }
  return NULL;
}

int main(void) {
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, work, (void *)i) != 0)
      return 3;
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < kPlaces; ++i)
    if (places[i * kLine] != kThreads * kRounds)
      return 1;
  return 0;
}
