/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Opacity: every transaction, also one that will be undone, sees a state that a serial order has.
 * All words are equal between transactions; who sees two that differ ends the process at once, from
 * inside the transaction. Also lost updates: the words count the transactions that changed them. */
#include "check.h"

#include <stdint.h>

enum { WORDS = 32, DISTANCE = 8, THREADS = 4 };
static int rounds = 12000; /* argv[1] */

static long words[WORDS * DISTANCE]; /* every DISTANCE-th: in lines of their own */
static long changes;

__attribute__((transaction_pure, noinline)) static void violated(long a, long b) {
  fprintf(stderr, "a transaction sees %ld and %ld\n", a, b);
  _exit(1);
}

struct thread {
  pthread_t thread;
  uint64_t random;
  long changed;
};

static uint64_t next(struct thread *thread) {
  thread->random ^= thread->random << 13;
  thread->random ^= thread->random >> 7;
  thread->random ^= thread->random << 17;
  return thread->random;
}

__attribute__((transaction_safe, noinline)) static long look(unsigned from, unsigned step,
                                                             unsigned count) {
  long first = words[from % WORDS * DISTANCE];
  for (unsigned i = 1; i < count; ++i) {
    long here = words[(from + i * step) % WORDS * DISTANCE];
    if (here != first)
      violated(first, here);
  }
  return first;
}

__attribute__((transaction_safe, noinline)) static void change(unsigned from, unsigned step) {
  for (unsigned i = 0; i < WORDS; ++i)
    ++words[(from + i * step) % WORDS * DISTANCE];
}

static void *work(void *argument) {
  struct thread *thread = argument;
  for (int round = 0; round < rounds; ++round) {
    uint64_t random = next(thread);
    unsigned from = (unsigned)(random >> 8 & 31);
    unsigned step = (unsigned)(random >> 16 & 30) | 1; /* odd: reaches every word */
    unsigned count = 2 + (unsigned)(random >> 24 & 31);
    switch (random >> 32 & 3) {
    case 0:
      __transaction_atomic { change(from, step); }
      ++thread->changed;
      break;
    case 1: {
      /* What it read decides, and it writes only a part of what it read. */
      long seen;
      __transaction_atomic {
        seen = look(from, step, count);
        if (seen % 3 != 0)
          change(from, step);
      }
      thread->changed += seen % 3 != 0;
      break;
    }
    case 2:
      /* Undone after it has changed everything. */
      __transaction_atomic {
        change(from, step);
        look(from, step, WORDS);
        __transaction_cancel;
      }
      break;
    default:
      __transaction_atomic { look(from, step, count); }
    }
  }
  return argument;
}

int main(int argc, char **argv) {
  if (argc > 1)
    rounds = atoi(argv[1]);
  static struct thread threads[THREADS];
  for (int i = 0; i < THREADS; ++i) {
    threads[i].random = 0x9e3779b97f4a7c15U * (uint64_t)(i + 1);
    EXPECT(pthread_create(&threads[i].thread, NULL, work, &threads[i]) == 0);
  }
  for (int i = 0; i < THREADS; ++i) {
    pthread_join(threads[i].thread, NULL);
    changes += threads[i].changed;
  }
  for (int i = 0; i < WORDS; ++i)
    EXPECT(words[i * DISTANCE] == changes);
  return 0;
}
