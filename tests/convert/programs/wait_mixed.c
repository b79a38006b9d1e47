// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One condition for several locks, at different times: two that become sections, and one that stays
// real. Woken from a section, from one under a real lock, from code that holds no lock, and through
// a function that knows neither the condition nor its lock.
#include "threads.h"

enum { kTurns = 300, kPhases = 6 };
static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER, other = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t real = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER, turned = PTHREAD_COND_INITIALIZER;
static long by_one, by_other, by_real, turn, waiters;

static void wake(pthread_cond_t *condition) { pthread_cond_broadcast(condition); }

static void wait_for(long wanted, int phase) {
  switch (phase % 3) {
  case 0:
    pthread_mutex_lock(&one);
    while (by_one < wanted)
      pthread_cond_wait(&changed, &one);
    pthread_mutex_unlock(&one);
    break;
  case 1:
    pthread_mutex_lock(&other);
    while (by_other < wanted)
      pthread_cond_wait(&changed, &other);
    pthread_mutex_unlock(&other);
    break;
  default:
    pthread_mutex_lock(&real);
    while (by_real < wanted)
      pthread_cond_wait(&changed, &real);
    pthread_mutex_unlock(&real);
  }
}

static void change(int phase) {
  switch (phase) {
  case 0:
    pthread_mutex_lock(&one);
    ++by_one;
    wake(&changed);
    pthread_mutex_unlock(&one);
    break;
  case 1:
    pthread_mutex_lock(&real);
    pthread_mutex_lock(&other);
    ++by_other;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&other);
    pthread_mutex_unlock(&real);
    break;
  case 2:
    pthread_mutex_lock(&real);
    ++by_real;
    wake(&changed);
    pthread_mutex_unlock(&real);
    break;
  case 3:
    pthread_mutex_lock(&one);
    ++by_one;
    pthread_mutex_unlock(&one);
    pthread_cond_broadcast(&changed);
    break;
  case 4:
    pthread_mutex_lock(&other);
    ++by_other;
    pthread_mutex_unlock(&other);
    wake(&changed);
    break;
  default:
    pthread_mutex_lock(&real);
    ++by_real;
    pthread_mutex_unlock(&real);
    pthread_cond_broadcast(&changed);
  }
}

static void work(unsigned thread) {
  for (long i = 0; i < kTurns; ++i) {
    const int phase = (int)(i % kPhases);
    if (thread == 0) {
      pthread_mutex_lock(&one);
      while (turn < i * waiters)
        pthread_cond_wait(&turned, &one);
      pthread_mutex_unlock(&one);
      change(phase);
    } else {
      wait_for(2 * (i / kPhases) + phase / 3 + 1, phase);
      pthread_mutex_lock(&one);
      ++turn;
      pthread_cond_signal(&turned);
      pthread_mutex_unlock(&one);
    }
  }
}

int main(int argc, char **argv) {
  waiters = argc > 1 ? atoi(argv[1]) : 4;
  run_in((unsigned)waiters + 1, work);
  printf("%ld %ld %ld, turn %ld\n", by_one, by_other, by_real, turn);
  return expect("turn", turn, waiters * kTurns) + expect("one", by_one, kTurns / 3) +
         expect("other", by_other, kTurns / 3) + expect("real", by_real, kTurns / 3);
}
