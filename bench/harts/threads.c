// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Threads that read and write a table of their own, and now and then a shared one.
//   threads THREADS KIB TURNS EVERY     KIB of each own table; every so many turns a shared word
#include "tandem/machine.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

enum { kMost = 64, kShared = 1024 };
static long threads, words, turns, every;
static atomic_long shared[kShared * 8]; // one a line
static uint64_t *own[kMost];
static pthread_barrier_t barrier;

static void *work(void *argument) {
  const long number = (long)argument;
  uint64_t *table = own[number];
  uint64_t x = 88172645463325252ULL + (uint64_t)number, sum = 0;
  pthread_barrier_wait(&barrier);
  for (long i = 0; i < turns; ++i) {
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    const uint64_t at = (uint64_t)i * 5 % (uint64_t)words;
    sum += table[at] ^ x;
    table[at] = sum;
    if (i % every == 0)
      atomic_fetch_add(&shared[x % kShared * 8], 1);
  }
  return (void *)(uintptr_t)sum;
}

int main(int argc, char **argv) {
  if (argc < 5)
    return 2;
  threads = atol(argv[1]);
  words = atol(argv[2]) * 1024 / 8;
  turns = atol(argv[3]);
  every = atol(argv[4]);
  for (long i = 0; i < threads; ++i)
    own[i] = calloc((size_t)words + 128 * (size_t)i, 8); // not all in the same sets
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
  long all = 0;
  for (long i = 0; i < kShared; ++i)
    all += atomic_load(&shared[i * 8]);
  printf("%ld\n", all);
  return 0;
}
