// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// blocks THREADS ROUNDS: atomic blocks that are left in every way that C has, and whose locals live
// in the frame around them. Status 0: each went where it should, and nothing was lost.
#include "interleave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <tandem/tandem.h>

enum { kAccounts = 4 };

static long count; // what ways_out() added, all threads together
static long accounts[kAccounts];

static void add(long *where, long amount) {
  const long before = *where;
  interleave();
  *where = before + amount;
}

// continue, break, goto and return, each out of a block and each to where a plain block leads.
// Result: what it added, and 1000 for every step that went astray.
static long ways_out(int round) {
  long added = 0; // in the frame around the blocks: rolled back with them
  int entered = 0;
  long astray = 0;
  for (int i = 0; i < 3; ++i) {
    tandem_atomic {
      ++entered;
      if (i == 0)
        continue;
      add(&count, 1);
      ++added;
      if (i == 1)
        break;
    }
    astray += 1000;
  }
  astray += entered == 2 ? 0 : 1000;
  switch (round % 2) {
  case 0:
    tandem_atomic {
      add(&count, 10);
      added += 10;
      break; // out of the switch
    }
    astray += 1000;
    break;
  default:
    tandem_atomic {
      for (int i = 0; i < 5; ++i) { // a loop inside keeps its own break
        if (i == 2)
          break;
        added += 10;
      }
      add(&count, 20);
      goto second;
    }
    astray += 1000;
  }
  tandem_atomic { add(&count, 5); }
  added += 5;
second:
  tandem_atomic {
    if (round % 3 == 0)
      return added + astray;
    tandem_atomic {
      add(&count, 7);
      added += 7;
      if (round % 3 == 1)
        return added + astray;
    }
    add(&count, 3);
    added += 3;
  }
  return added + astray;
}

static void transfer(int from, int to, long amount) {
  tandem_atomic {
    add(&accounts[from], -amount);
    add(&accounts[to], amount);
  }
}

static long total(void) {
  tandem_atomic {
    long sum = 0;
    for (int i = 0; i < kAccounts; ++i)
      sum += accounts[i];
    return sum;
  }
}

// Locals of every kind change before the conflict that makes a block run again.
static int locals(long seed, unsigned long *restarts) {
  const unsigned long before = interleaved();
  long values[4] = {seed, seed + 1, seed + 2, seed + 3};
  double half = 0.5;
  char *text = NULL;
  long seen = 0;
  tandem_atomic {
    for (int i = 0; i < 4; ++i)
      values[i] *= 2;
    half += 1;
    text = text == NULL ? (char *)values : NULL;
    seen = count;
    interleave_for_sure();
    seed += 5;
    count = seen + 1;
    --count;
  }
  *restarts += interleaved() - before - 1;
  int wrong = half != 1.5 || text != (char *)values;
  for (long i = 0; i < 4; ++i)
    wrong += values[i] != 2 * (seed - 5 + i);
  return wrong;
}

static pthread_barrier_t start;

struct work {
  int id;
  int rounds;
  int failures;
  long added;
  unsigned long restarts;
};

static void *worker(void *argument) {
  struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i) {
    const long added = ways_out(i);
    work->failures += added >= 1000;
    work->added += added;
    transfer((work->id + i) % kAccounts, (work->id + 3 * i + 1) % kAccounts, i);
    work->failures += total() != 0;
    work->failures += locals(work->id + i, &work->restarts);
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = atoi(argv[1]);
  const int rounds = atoi(argv[2]);
  pthread_t handles[64];
  struct work work[64];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    work[i] = (struct work){.id = i, .rounds = rounds};
    pthread_create(&handles[i], NULL, worker, &work[i]);
  }
  int failures = 0;
  long added = 0;
  unsigned long restarts = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    failures += work[i].failures;
    added += work[i].added;
    restarts += work[i].restarts;
  }
  printf("count %ld of %ld, failures %d, restarts %lu\n", count, added, failures, restarts);
  return !(count == added && failures == 0);
}
