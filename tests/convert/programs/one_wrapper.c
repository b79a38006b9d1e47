// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks of two sections, and one that stays real, through the same wrappers; one wraps another.
#include "threads.h"

static pthread_mutex_t first = PTHREAD_MUTEX_INITIALIZER, second = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t real = PTHREAD_MUTEX_INITIALIZER;
static long a, b, c;

static void take(pthread_mutex_t *lock) { pthread_mutex_lock(lock); }
static void give(pthread_mutex_t *lock) { pthread_mutex_unlock(lock); }
static void take_by(pthread_mutex_t *lock) { take(lock); }

static void work(unsigned thread) {
  (void)thread;
  for (long i = 0; i < kRounds; ++i) {
    take(&first);
    ++a;
    give(&first);
    take_by(&second);
    ++b;
    give(&second);
    take_by(&first);
    ++a;
    give(&first);
    take(&real);
    ++c;
    give(&real);
  }
}

int main(int argc, char **argv) {
  const long wanted = run(argc, argv, work) * (long)kRounds;
  return expect("a", a, 2 * wanted) + expect("b", b, wanted) + expect("c", c, wanted);
}
