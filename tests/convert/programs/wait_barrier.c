// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A barrier of a lock and a condition. Who waits is called with the lock held, by a function that
// waits itself where a flag says so; the last one wakes all others.
#include "threads.h"

enum { kTurns = 300 };
struct barrier {
  pthread_mutex_t lock;
  pthread_cond_t turned;
  unsigned wanted, arrived;
  long turn;
};
static struct barrier barrier = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0, 0};
static long passed[64], wrong;

static void wait_for_others(struct barrier *at, long turn) {
  do
    pthread_cond_wait(&at->turned, &at->lock);
  while (at->turn == turn);
}

static long arrive(struct barrier *at, int last_goes_on) {
  pthread_mutex_lock(&at->lock);
  const long turn = at->turn;
  if (++at->arrived == at->wanted) {
    at->arrived = 0;
    ++at->turn;
    pthread_cond_broadcast(&at->turned);
    if (last_goes_on) {
      pthread_mutex_unlock(&at->lock);
      return turn;
    }
  } else {
    wait_for_others(at, turn);
  }
  pthread_mutex_unlock(&at->lock);
  return turn;
}

static void work(unsigned thread) {
  for (long i = 0; i < kTurns; ++i) {
    passed[thread] = i + 1;
    if (arrive(&barrier, (i & 1) != 0) != 2 * i)
      __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    for (unsigned other = 0; other < barrier.wanted; ++other)
      if (passed[other] != i + 1)
        __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
    arrive(&barrier, 0);
  }
}

int main(int argc, char **argv) {
  barrier.wanted = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  run(argc, argv, work);
  printf("turn %ld, wrong %ld\n", barrier.turn, wrong);
  return expect("turn", barrier.turn, 2 * kTurns) + expect("wrong", wrong, 0);
}
