// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two threads take turns, 10,000 of them: each wake-up is the only one that the other one gets. By
// signals in the section, and behind it without the lock.
#include "threads.h"

enum { kTurns = 10000 };
static struct table {
  pthread_mutex_t lock;
  pthread_cond_t turned;
  long turn;
} tables[32];

static void work(unsigned thread) {
  struct table *at = &tables[thread / 2];
  for (long i = 0; i < kTurns / 2; ++i) {
    pthread_mutex_lock(&at->lock);
    while ((at->turn & 1) != (long)(thread & 1))
      pthread_cond_wait(&at->turned, &at->lock);
    ++at->turn;
    if (i % 2 == 0) {
      pthread_cond_signal(&at->turned);
      pthread_mutex_unlock(&at->lock);
    } else {
      pthread_mutex_unlock(&at->lock);
      pthread_cond_signal(&at->turned);
    }
  }
}

int main(int argc, char **argv) {
  const unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  for (unsigned i = 0; i < pairs; ++i) {
    pthread_mutex_init(&tables[i].lock, NULL);
    pthread_cond_init(&tables[i].turned, NULL);
  }
  run_in(2 * pairs, work);
  int wrong = 0;
  for (unsigned i = 0; i < pairs; ++i) {
    printf("%u: %ld\n", i, tables[i].turn);
    wrong += expect("turn", tables[i].turn, kTurns);
  }
  return wrong;
}
