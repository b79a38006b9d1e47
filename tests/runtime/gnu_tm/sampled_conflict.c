/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A section that loses to another one, TIMES times: it reads, lets the other thread commit what it
 * has read, and goes on. */
#include "check.h"

#include <sched.h>
#include <stdatomic.h>

enum { TIMES = 600 };

static long contested, own;
static long present;    /* the number of the reader's execution */
static atomic_int turn; /* 2 n: the n-th reader's; 2 n + 1: the writer's */

__attribute__((transaction_pure, noinline)) static void let_write(long seen) {
  if (seen != present)
    return; /* it has lost already */
  atomic_store(&turn, (int)(2 * seen + 1));
  while (*(volatile long *)&contested == seen)
    sched_yield();
}

__attribute__((noinline)) static void reader(void) {
  __transaction_atomic {
    long seen = contested;
    let_write(seen);
    own += seen;
  }
}

__attribute__((noinline)) static void writer(void) {
  __transaction_atomic { ++contested; }
}

static void *write_in_turn(void *unused) {
  for (int i = 0; i < TIMES; ++i) {
    while (atomic_load(&turn) != 2 * i + 1)
      sched_yield();
    writer();
    atomic_store(&turn, 2 * i + 2);
  }
  return unused;
}

int main(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, write_in_turn, NULL) == 0);
  for (int i = 0; i < TIMES; ++i) {
    while (atomic_load(&turn) != 2 * i)
      sched_yield();
    present = i;
    reader();
  }
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT(contested == TIMES);
  return 0;
}
