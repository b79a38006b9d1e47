// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Signals that come while a section has found nothing to do and does not wait yet: it looks,
// computes for a while without looking at anything again, and then waits.
#include "threads.h"

#include <sched.h>

enum { kTurns = 400, kLong = 40000 };
static struct desk {
  pthread_mutex_t lock;
  pthread_cond_t arrived;
  long letter, card;
  long asked; // turns that the reader has begun; no part of what the lock guards
} desks[32];

static void compute(long steps) {
  for (long i = 0; i < steps; ++i)
    __asm__ volatile("" : "+r"(i));
}

static long latest(const struct desk *at, long turn) {
  return turn % 2 == 0 ? at->letter : __atomic_load_n(&at->card, __ATOMIC_ACQUIRE);
}

static void deliver(struct desk *at, long turn) {
  if (turn % 2 != 0)
    __atomic_store_n(&at->card, turn, __ATOMIC_RELEASE);
  pthread_mutex_lock(&at->lock);
  if (turn % 2 == 0)
    at->letter = turn;
  pthread_mutex_unlock(&at->lock);
  pthread_cond_signal(&at->arrived);
}

static void work(unsigned thread) {
  struct desk *at = &desks[thread / 2];
  for (long i = 1; i <= kTurns; ++i)
    if (thread % 2 == 0) {
      __atomic_store_n(&at->asked, i, __ATOMIC_RELEASE);
      pthread_mutex_lock(&at->lock);
      while (latest(at, i) < i) {
        compute(kLong);
        pthread_cond_wait(&at->arrived, &at->lock);
      }
      pthread_mutex_unlock(&at->lock);
    } else {
      while (__atomic_load_n(&at->asked, __ATOMIC_ACQUIRE) < i)
        sched_yield();
      compute(kLong / 8 * (i % 8));
      deliver(at, i);
    }
}

int main(int argc, char **argv) {
  const unsigned pairs = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  for (unsigned i = 0; i < pairs; ++i) {
    pthread_mutex_init(&desks[i].lock, NULL);
    pthread_cond_init(&desks[i].arrived, NULL);
  }
  run_in(2 * pairs, work);
  int wrong = 0;
  for (unsigned i = 0; i < pairs; ++i) {
    printf("%u: %ld %ld\n", i, desks[i].letter, desks[i].card);
    wrong += expect("letter", desks[i].letter, kTurns) + expect("card", desks[i].card, kTurns - 1);
  }
  return wrong;
}
