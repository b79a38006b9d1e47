// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// restart THREADS ROUNDS: sections whose locals, parameters and results change before a conflict
// that makes the section run again. Every section recomputes what it did from what it read; a local
// that an aborted attempt left behind shows. Status 0: nothing did.
#include "interleave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ATOMIC __attribute__((atomic))
enum { kSlots = 8, kInterleaves = 3 }; // calls of interleave() in a round

static unsigned long counter;
static unsigned long slots[kSlots]; // all equal to counter outside of sections
static unsigned long wrong;         // counted inside sections

struct answer {
  unsigned long before, sum;
  double half;
};

// Changes a local that others see through its address.
__attribute__((noinline)) static void bump(unsigned long *where, unsigned long by) { *where += by; }

// Locals in registers and in memory, a parameter, an array, a structure, a double.
ATOMIC static struct answer mixed(unsigned long by) {
  unsigned long local[kSlots];
  struct answer answer = {0, 0, 0.5};
  unsigned long sum = by;
  for (int i = 0; i < kSlots; ++i) {
    local[i] = by + (unsigned long)i;
    sum += local[i];
    bump(&local[i], sum);
    answer.half += (double)by / 2;
  }
  by += sum;
  answer.before = counter;
  interleave();
  for (int i = 0; i < kSlots; ++i) {
    if (slots[i] != answer.before)
      ++wrong;
    local[i] += slots[i];
    by += local[i];
    slots[i] = answer.before + 1;
  }
  sum += by;
  interleave();
  counter = answer.before + 1;
  answer.sum = sum;
  return answer;
}

// What mixed() must return for a counter of `before`.
static struct answer expected(unsigned long by, unsigned long before) {
  struct answer answer = {before, by, 0.5};
  unsigned long local[kSlots];
  for (int i = 0; i < kSlots; ++i) {
    local[i] = by + (unsigned long)i;
    answer.sum += local[i];
    local[i] += answer.sum;
    answer.half += (double)by / 2;
  }
  by += answer.sum;
  for (int i = 0; i < kSlots; ++i)
    by += local[i] + before;
  answer.sum += by;
  return answer;
}

// Locals that only live across a loop of reads, and a result through a pointer to the caller's
// frame.
ATOMIC static int through_pointer(unsigned long *result, int steps) {
  int taken = 0;
  *result = 0;
  while (steps > 0) {
    *result += slots[steps-- % kSlots] - counter;
    ++taken;
  }
  interleave();
  for (int i = 0; i < kSlots; ++i)
    ++slots[i];
  ++counter;
  return taken;
}

// No thread begins before all are there: their sections overlap.
static pthread_barrier_t start;

struct work {
  unsigned long id;
  int rounds;
  int failures;
  unsigned long restarts;
};

static void *worker(void *argument) {
  struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i) {
    const unsigned long by = work->id * 1000 + (unsigned long)i;
    const struct answer got = mixed(by);
    const struct answer want = expected(by, got.before);
    unsigned long result = 77;
    const int taken = through_pointer(&result, 11);
    if (got.sum != want.sum || got.half != want.half || result != 0 || taken != 11)
      ++work->failures;
  }
  work->restarts = interleaved() - kInterleaves * (unsigned long)work->rounds;
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
    work[i] = (struct work){(unsigned long)i, rounds, 0, 0};
    pthread_create(&handles[i], NULL, worker, &work[i]);
  }
  int failures = 0;
  unsigned long restarts = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    failures += work[i].failures;
    restarts += work[i].restarts;
  }
  const unsigned long want = 2ul * (unsigned long)threads * (unsigned long)rounds;
  printf("counter %lu of %lu, wrong %lu, failures %d, restarts %lu\n", counter, want, wrong,
         failures, restarts);
  for (int i = 0; i < kSlots; ++i)
    failures += slots[i] != want;
  return !(counter == want && wrong == 0 && failures == 0);
}
