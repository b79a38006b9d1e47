// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A bounded queue: two conditions and one lock. Signals inside of the section, and behind it.
#include "threads.h"

enum { kRoom = 4 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t not_full = PTHREAD_COND_INITIALIZER, not_empty = PTHREAD_COND_INITIALIZER;
static long items[kRoom];
static unsigned first, held;
static long sums[64];

static void put(long item) {
  pthread_mutex_lock(&lock);
  while (held == kRoom)
    pthread_cond_wait(&not_full, &lock);
  items[(first + held++) % kRoom] = item;
  pthread_cond_signal(&not_empty);
  pthread_mutex_unlock(&lock);
}

static long take(void) {
  pthread_mutex_lock(&lock);
  while (held == 0)
    pthread_cond_wait(&not_empty, &lock);
  const long item = items[first];
  first = (first + 1) % kRoom;
  --held;
  pthread_mutex_unlock(&lock);
  pthread_cond_signal(&not_full);
  return item;
}

static void work(unsigned thread) {
  for (long i = 1; i <= kRounds; ++i)
    if (thread % 2 == 0)
      put(i);
    else
      sums[thread] += take();
}

int main(int argc, char **argv) {
  const unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  run_in(2 * pairs, work);
  long sum = 0;
  for (unsigned i = 0; i < 2 * pairs; ++i)
    sum += sums[i];
  printf("sum %ld, left %u\n", sum, held);
  return expect("sum", sum, pairs * (long)kRounds * (kRounds + 1) / 2) + expect("held", held, 0);
}
