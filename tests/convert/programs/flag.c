// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flag says whether the lock is held here or by the caller; not nested, and hand over hand.
#include "threads.h"

static pthread_mutex_t a_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t b_lock = PTHREAD_MUTEX_INITIALIZER;
static long a, b, both;

static void add_a(int locked) {
  if (!locked)
    pthread_mutex_lock(&a_lock);
  a += 1;
  if (!locked)
    pthread_mutex_unlock(&a_lock);
}

static void add_both(void) {
  pthread_mutex_lock(&a_lock);
  add_a(1);
  pthread_mutex_lock(&b_lock);
  both += 1;
  pthread_mutex_unlock(&a_lock);
  b += 1;
  pthread_mutex_unlock(&b_lock);
}

static void work(unsigned thread) {
  (void)thread;
  for (long i = 0; i < kRounds; ++i)
    if (i % 2 == 0)
      add_a(0);
    else
      add_both();
}

int main(int argc, char **argv) {
  const long n = run(argc, argv, work);
  return expect("a", a, kRounds * n) + expect("b", b, kRounds / 2 * n) +
         expect("both", both, kRounds / 2 * n);
}
