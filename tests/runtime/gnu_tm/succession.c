/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Transactions of two kinds in turn, every two of them: each begins as it would have alone,
 * whatever the ones before it have left in the thread, and what is to be done behind its end is
 * done there, once. Each two have a thread of their own, which knows of no others that failed. */
#include "check.h"

#include <stdint.h>

extern uint32_t _ITM_inTransaction(void) __attribute__((transaction_pure));
extern void _ITM_addUserCommitAction(void (*)(void *), uint64_t, void *)
    __attribute__((transaction_pure));
extern void _ITM_addUserUndoAction(void (*)(void *), void *) __attribute__((transaction_pure));
extern void _ITM_changeTransactionMode(int) __attribute__((transaction_pure));

static long cells[8];
static long expected; /* the sum of what the transactions have added */
static long acted, undone;
int never; /* not static, or gcc knew it */
static long *block;

static void act(void *by) {
  EXPECT(_ITM_inTransaction() == 0);
  acted += (long)by;
}
static void undo(void *by) { undone += (long)by; }

/* Both codes. */
__attribute__((noinline)) static void plain(void) {
  __transaction_atomic {
    ++cells[0];
    cells[1] += cells[0] > 0;
  }
  expected += 2;
}

__attribute__((noinline)) static void cancellable(void) {
  __transaction_atomic {
    ++cells[1];
    cells[2] += cells[1] > 0;
    if (never)
      __transaction_cancel;
  }
  expected += 2;
}

__attribute__((noinline)) static void cancelled(void) {
  __transaction_atomic {
    ++cells[2];
    if (!never)
      __transaction_cancel;
  }
}

__attribute__((noinline)) static void acting(void) {
  long before = acted;
  __transaction_atomic {
    ++cells[3];
    _ITM_addUserCommitAction(act, 1, (void *)3);
  }
  ++expected;
  EXPECT(acted == before + 3);
}

__attribute__((noinline)) static void undoing(void) {
  long before = undone;
  __transaction_atomic {
    ++cells[4];
    _ITM_addUserUndoAction(undo, (void *)1);
  }
  ++expected;
  EXPECT(undone == before);
}

__attribute__((noinline)) static void allocating(void) {
  long had;
  __transaction_atomic {
    had = block == NULL ? 0 : *block;
    free(block);
    block = malloc(sizeof *block);
    *block = had + 1;
    ++cells[5];
  }
  ++expected;
  EXPECT(*block == had + 1);
}

/* The inner one has instrumented code only, and needs software every other time. */
__attribute__((noinline)) static void nested(void) {
  static int cancels;
  cancels = !cancels;
  __transaction_atomic {
    ++cells[6];
    __transaction_atomic {
      ++cells[5];
      if (cancels)
        __transaction_cancel;
    }
    __transaction_atomic { ++cells[7]; }
  }
  expected += cancels ? 2 : 3;
}

__attribute__((noinline)) static void irrevocable(void) {
  __transaction_atomic {
    ++cells[7];
    _ITM_changeTransactionMode(0);
    ++cells[6];
  }
  expected += 2;
}

static void (*const kinds[])(void) = {plain,   cancellable, cancelled, acting,
                                      undoing, allocating,  nested,    irrevocable};
enum { kKinds = sizeof kinds / sizeof *kinds };

static void *in_turn(void *numbers) {
  int first = (int)((long)numbers / kKinds);
  int second = (int)((long)numbers % kKinds);
  plain(); /* the one that makes the library know the thread */
  for (int i = 0; i < 3; ++i) {
    kinds[first]();
    kinds[second]();
  }
  long sum = 0;
  for (int i = 0; i < 8; ++i)
    sum += cells[i];
  if (sum == expected && _ITM_inTransaction() == 0)
    return NULL;
  fprintf(stderr, "kinds %d and %d in turn: the sum is %ld, not %ld\n", first, second, sum,
          expected);
  exit(1);
}

int main(void) {
  have_a_second_thread();
  for (int round = 0; round < 2; ++round) /* at first, logs have to be mapped */
    for (long numbers = 0; numbers < kKinds * kKinds; ++numbers) {
      pthread_t thread;
      EXPECT(pthread_create(&thread, NULL, in_turn, (void *)numbers) == 0);
      EXPECT(pthread_join(thread, NULL) == 0);
    }
  free(block);
  return 0;
}
