// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that share a counter, a lock and lines; the main part is measured as regions.
#include "tandem/machine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

enum { kTurns = 200, kMost = 64 };

static atomic_long counter;
static long guarded;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_barrier_t barrier;
static volatile long own[kMost]; // lines that several threads write to

static void *work(void *argument) {
  const long number = (long)argument;
  pthread_barrier_wait(&barrier);
  for (int i = 0; i < kTurns; ++i) {
    atomic_fetch_add(&counter, 1);
    ++own[number];
    if (i % 8 == 0) {
      pthread_mutex_lock(&lock);
      ++guarded;
      pthread_mutex_unlock(&lock);
    }
  }
  return NULL;
}

int main(int argc, char **argv) {
  const long threads = argc > 1 ? atol(argv[1]) : 4;
  pthread_t ids[kMost];
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  TANDEM_MACHINE_TIMING();
  TANDEM_MACHINE_BEGIN(1);
  for (long i = 1; i < threads; ++i)
    pthread_create(&ids[i], NULL, work, (void *)i);
  work(NULL);
  for (long i = 1; i < threads; ++i)
    pthread_join(ids[i], NULL);
  TANDEM_MACHINE_END(1);
  TANDEM_MACHINE_FUNCTIONAL();
  long sum = 0;
  for (long i = 0; i < threads; ++i)
    sum += own[i];
  printf("%ld %ld %ld\n", atomic_load(&counter), guarded, sum);
  return sum == threads * kTurns && guarded == threads * (kTurns / 8) ? 0 : 1;
}
