/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A long transaction beside one that commits again and again, which makes it look at all of its
 * reads each time. Says how often it began, and how many of the others' commits it has seen. */
#include "check.h"

#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

enum { READS = 20000, COMMITS = 100 };

static long words[READS + COMMITS];
static _Alignas(128) volatile long asked, begins;
static _Alignas(128) long committed;
static volatile int over;

static void *commit_when_asked(void *argument) {
  for (long done = 0; !over; usleep(10))
    if (asked != done) {
      ++done;
      __transaction_atomic { ++committed; }
    }
  return argument;
}

__attribute__((transaction_pure, noinline)) static void count_begin(void) { ++begins; }

/* Another commit, as soon as its value is there: it then waits for this transaction to see it. */
__attribute__((transaction_pure, noinline)) static void let_commit(void) {
  if (begins != 1)
    return; /* alone, where nobody commits */
  const long next = ++asked;
  while (*(volatile long *)&committed != next)
    usleep(10);
}

int main(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, 0, commit_when_asked, 0) == 0);
  long sum = 0;
  for (int i = 0; i < READS + COMMITS; ++i)
    words[i] = i;
  __transaction_atomic {
    count_begin();
    sum = 0;
    for (int i = 0; i < READS; ++i)
      sum += words[i];
    for (int i = 0; i < COMMITS; ++i) {
      let_commit();
      sum += words[READS + i];
    }
    words[0] = sum;
  }
  const long seen = asked;
  over = 1;
  pthread_join(thread, 0);
  EXPECT(words[0] == (READS + COMMITS - 1L) * (READS + COMMITS) / 2);
  EXPECT(committed == seen);
  printf("%ld begins, %ld commits\n", begins, seen);
  return 0;
}
