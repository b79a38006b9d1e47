// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locked in one function, released in its caller; and a callee that releases its caller's lock.
#include "threads.h"

static pthread_mutex_t table_lock = PTHREAD_MUTEX_INITIALIZER;
static long table[16];
static long lookups, misses;

// Returns with the lock held, found or not.
static long *find_locked(unsigned key) {
  pthread_mutex_lock(&table_lock);
  ++lookups;
  return key % 17 == 16 ? NULL : &table[key % 17];
}

static void count_miss_and_unlock(void) {
  ++misses;
  pthread_mutex_unlock(&table_lock);
}

static int add(unsigned key) {
  long *found = find_locked(key);
  if (found == NULL) {
    count_miss_and_unlock();
    return 0;
  }
  *found += 1;
  pthread_mutex_unlock(&table_lock);
  return 1;
}

static void work(unsigned thread) {
  for (unsigned i = 0; i < kRounds; ++i)
    add(i + thread);
}

int main(int argc, char **argv) {
  const unsigned threads = run(argc, argv, work);
  long sum = misses;
  for (unsigned i = 0; i < 16; ++i)
    sum += table[i];
  return expect("lookups", lookups, (long)kRounds * threads) + expect("sum", sum, lookups);
}
