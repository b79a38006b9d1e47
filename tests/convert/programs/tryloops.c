// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Functions that acquire by trying in a loop, of all shapes: their callers' regions are sections.
#include "threads.h"

#include <sched.h>

#define LOCKS 7
static pthread_mutex_t bare, once, variable, forever, pausing, yielding;
static pthread_spinlock_t spin;
static long counts[LOCKS];

static int take_bare(pthread_mutex_t *lock) {
  while (pthread_mutex_trylock(lock))
    ;
  return 0;
}

static void take_once(pthread_mutex_t *lock) {
  int result;
  do
    result = pthread_mutex_trylock(lock);
  while (result != 0);
}

static void take_variable(pthread_mutex_t *lock) {
  int failed = 1;
  while (failed)
    failed = pthread_mutex_trylock(lock);
}

static void take_forever(pthread_mutex_t *lock) {
  for (;;)
    if (pthread_mutex_trylock(lock) == 0)
      return;
}

static void take_pausing(pthread_mutex_t *lock) {
  while (pthread_mutex_trylock(lock) != 0)
    __builtin_ia32_pause();
}

static void take_yielding(pthread_mutex_t *lock) {
  while (pthread_mutex_trylock(lock) != 0) {
    __asm__ volatile("pause" ::: "memory");
    sched_yield();
  }
}

static void take_spin(pthread_spinlock_t *lock) {
  while (pthread_spin_trylock(lock))
    ;
}

static void give(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }

static void work(unsigned thread) {
  (void)thread;
  for (long i = 0; i < kRounds; ++i) {
    take_bare(&bare);
    ++counts[0];
    give(&bare);
    take_once(&once);
    ++counts[1];
    give(&once);
    take_variable(&variable);
    ++counts[2];
    give(&variable);
    take_forever(&forever);
    ++counts[3];
    give(&forever);
    take_pausing(&pausing);
    ++counts[4];
    pthread_mutex_unlock(&pausing);
    take_yielding(&yielding);
    ++counts[5];
    give(&yielding);
    take_spin(&spin);
    ++counts[6];
    pthread_spin_unlock(&spin);
  }
}

int main(int argc, char **argv) {
  pthread_spin_init(&spin, PTHREAD_PROCESS_PRIVATE);
  const long wanted = run(argc, argv, work) * (long)kRounds;
  int wrong = 0;
  for (int i = 0; i < LOCKS; ++i)
    wrong += expect("count", counts[i], wanted);
  return wrong;
}
