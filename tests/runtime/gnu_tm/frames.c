/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Memory on the stack above the begin. A function that returns a structure writes it into its
 * caller's frame by barriers, and the caller reads it plainly; a local of one thread that others
 * know is shared like any memory. Committed, cancelled, and restarted by conflicts. */
#include "check.h"

#include <stdint.h>

struct result {
  long sum;
  long *first, *second;
};

enum { THREADS = 4 };
static int rounds = 4000; /* the first argument */
long cells[2];
long finished;

__attribute__((transaction_safe, noinline)) static struct result look(long *p) {
  return (struct result){p[0] + p[1], p, p + 1};
}

__attribute__((noinline)) static long returned_structure(long *p) {
  long seen = 0;
  __transaction_atomic {
    const struct result r = look(p);
    seen = r.first == p && r.second == p + 1 && r.sum == 0;
    finished += seen;
  }
  return seen;
}

/* The slot is in this function's caller. */
__attribute__((noinline)) static struct result passed_on(long *p, int cancel) {
  struct result r = {-1, NULL, NULL};
  __transaction_atomic {
    r = look(p);
    if (cancel)
      __transaction_cancel;
  }
  return r;
}

/* Irrevocable after a write in place, beside others. */
__attribute__((noinline)) static void note(void) { fflush(NULL); }
__attribute__((noinline)) static long then_irrevocable(long *p) {
  long seen = 0;
  __transaction_relaxed {
    const struct result r = look(p);
    seen = r.first == p;
    if (r.sum == 0)
      note();
  }
  return seen;
}

struct shared_local {
  long a, b;
  int stop;
};

static void *work(void *argument) {
  for (int i = 0; i < rounds; ++i) {
    EXPECT(returned_structure(cells));
    if (i % 50 == 0)
      EXPECT(then_irrevocable(cells));
    /* Keeps cells[0] + cells[1] at 0. */
    __transaction_atomic {
      ++cells[0];
      --cells[1];
    }
    struct result r = passed_on(cells, i % 3 == 0);
    EXPECT(i % 3 == 0 ? r.sum == -1 : r.sum == 0 && r.second == cells + 1);
  }
  return argument;
}

static void *look_at_local(void *argument) {
  struct shared_local *local = argument;
  for (int stop = 0; !stop;) {
    int equal;
    __transaction_atomic {
      equal = local->a == local->b;
      stop = local->stop;
    }
    EXPECT(equal);
    __transaction_atomic {
      ++local->a;
      ++local->b;
    }
  }
  return argument;
}

/* This thread's own stack, changed by its own transactions while others look. */
static void shared_on_the_stack(void) {
  struct shared_local local = {0, 0, 0};
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    EXPECT(pthread_create(&threads[i], NULL, look_at_local, &local) == 0);
  for (int i = 0; i < rounds; ++i)
    __transaction_atomic {
      local.a += 2;
      local.b += 2;
      if (i % 5 == 0)
        __transaction_cancel;
    }
  __transaction_atomic { local.stop = 1; }
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  EXPECT(local.a == local.b);
}

int main(int argc, char **argv) {
  if (argc > 1)
    rounds = atoi(argv[1]);
  EXPECT(returned_structure(cells));
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; ++i)
    EXPECT(pthread_create(&threads[i], NULL, work, NULL) == 0);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  EXPECT(cells[0] == THREADS * rounds && finished == THREADS * rounds + 1);
  shared_on_the_stack();
  return 0;
}
