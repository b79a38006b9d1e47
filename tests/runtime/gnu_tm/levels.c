/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Transactions nested deeper than a processor counts, committed and cancelled; and inside regions
 * of hardware that the program begins itself. -mrtm; the argument says whether there is such
 * hardware. */
#include "check.h"

#include <immintrin.h>
#include <pthread.h>
#include <string.h>

enum { kThreads = 3, kTimes = 60, kDeepest = 20 };

static long counters[kDeepest + 1];
static long undone, regions, alone;

/* One more at each level, from `depth` on. */
__attribute__((transaction_safe, noinline)) static void descend(int depth, int cancel_at) {
  __transaction_atomic {
    ++counters[depth];
    if (depth < kDeepest)
      descend(depth + 1, cancel_at);
    if (depth == cancel_at)
      __transaction_cancel;
  }
}

/* A region of the program's own: whatever begins in it may undo it, and what follows does the work.
 */
__attribute__((noinline)) static void region(int irrevocable) {
  for (int attempts = 0; attempts < 4; ++attempts)
    if (_xbegin() == _XBEGIN_STARTED) {
      __transaction_atomic { ++regions; }
      if (irrevocable) {
        __transaction_relaxed {
          __asm__ volatile("" ::: "memory");
          ++regions;
        }
      } else {
        __transaction_atomic { ++regions; }
      }
      if (!_xtest()) /* the end of a transaction has ended it */
        abort();
      _xend();
      return;
    }
  __transaction_atomic { regions += 2; }
}

/* One that is open beyond the end of a transaction that is serial. */
__attribute__((noinline)) static int open_region(void) { return _xbegin() == _XBEGIN_STARTED; }
__attribute__((noinline)) static void region_inside(void) {
  int open = 0;
  __transaction_relaxed {
    open = open_region();
    ++alone;
  }
  if (open && !_xtest())
    abort();
  if (open)
    _xend();
}

static int hardware;

static void *work(void *argument) {
  for (int i = 0; i < kTimes; ++i) {
    descend(i % kDeepest, -1);
    __transaction_atomic {
      ++undone;
      descend(kDeepest - i % 12, kDeepest - i % 5);
    }
    if (hardware) {
      region(i % 2);
      region_inside();
    }
  }
  return argument;
}

int main(int count, char **arguments) {
  hardware = count > 1 && strcmp(arguments[1], "hardware") == 0;
  pthread_t threads[kThreads];
  for (long i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  /* The same without threads. */
  long expected[kDeepest + 1] = {0};
  for (int i = 0; i < kTimes; ++i) {
    for (int depth = i % kDeepest; depth <= kDeepest; ++depth)
      ++expected[depth];
    int first = kDeepest - i % 12, cancelled = kDeepest - i % 5;
    for (int depth = first; depth <= kDeepest && !(first <= cancelled && depth == cancelled);
         ++depth)
      ++expected[depth];
  }
  for (int depth = 0; depth <= kDeepest; ++depth)
    EXPECT(counters[depth] == kThreads * expected[depth]);
  EXPECT(undone == kThreads * kTimes);
  EXPECT(alone == (hardware ? 1L * kThreads * kTimes : 0));
  EXPECT(regions == (hardware ? 2L * kThreads * kTimes : 0));
  return 0;
}
