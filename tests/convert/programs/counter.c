// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A leaf lock around counters: the simplest region, and one with several exits.
#include "threads.h"

static pthread_mutex_t stats_lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
  long total, even;
} stats;

static int add(long value) {
  pthread_mutex_lock(&stats_lock);
  stats.total += 1;
  if (value % 2 != 0) {
    pthread_mutex_unlock(&stats_lock);
    return 0;
  }
  stats.even += 1;
  pthread_mutex_unlock(&stats_lock);
  return 1;
}

static void work(unsigned thread) {
  (void)thread;
  for (long i = 0; i < kRounds; ++i)
    add(i);
}

int main(int argc, char **argv) {
  const unsigned threads = run(argc, argv, work);
  return expect("total", stats.total, kRounds * threads) +
         expect("even", stats.even, kRounds / 2 * threads);
}
