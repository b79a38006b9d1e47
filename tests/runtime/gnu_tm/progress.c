/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Every transaction commits at last: it ends only when all threads have done their transactions,
 * whatever the time. Each reads all words and adds to some, from its own place on, so that they
 * meet in every order; and it gives the processor away in between, so that others meet an owner
 * that does not run. THREADS TRANSACTIONS. */
#include "check.h"

#include <sched.h>
#include <stdint.h>

enum { WORDS = 12, DISTANCE = 8, WRITES = 3, MOST_THREADS = 16 };

long words[WORDS *
           DISTANCE]; /* every DISTANCE-th: in lines of their own; not static, as it is read */
static pthread_barrier_t start;
static int rounds;

__attribute__((transaction_pure, noinline)) static void give_way(void) { sched_yield(); }

static void *work(void *argument) {
  const unsigned number = (unsigned)(uintptr_t)argument;
  pthread_barrier_wait(&start);
  for (int round = 0; round < rounds; ++round) {
    const unsigned from = number * 5 + (unsigned)round;
    const unsigned step = round % 2 == 0 ? 1 : WORDS - 1;
    long sum = 0;
    __transaction_atomic {
      for (unsigned i = 0; i < WRITES; ++i)
        ++words[(from + i * step) % WORDS * DISTANCE];
      give_way();
      for (unsigned i = 0; i < WORDS; ++i)
        sum += words[(from + i * step) % WORDS * DISTANCE];
    }
    EXPECT(sum % WRITES == 0);
  }
  return NULL;
}

int main(int argc, char **argv) {
  EXPECT(argc == 3);
  const int count = atoi(argv[1]);
  rounds = atoi(argv[2]);
  EXPECT(count <= MOST_THREADS);
  pthread_t threads[MOST_THREADS];
  EXPECT(pthread_barrier_init(&start, NULL, (unsigned)count) == 0);
  for (int i = 0; i < count; ++i)
    EXPECT(pthread_create(&threads[i], NULL, work, (void *)(uintptr_t)i) == 0);
  for (int i = 0; i < count; ++i)
    EXPECT(pthread_join(threads[i], NULL) == 0);
  long sum = 0;
  for (int i = 0; i < WORDS; ++i)
    sum += words[i * DISTANCE];
  EXPECT(sum == (long)count * rounds * WRITES);
  return 0;
}
