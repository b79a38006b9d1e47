/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Two threads, each with data of its own: TIMES sections that commit, and after each one that the
 * program cancels. */
#include <pthread.h>
#include <stddef.h>

enum { TIMES = 10000 };

static struct {
  long count;
  char apart[248];
} own[2];

__attribute__((noinline)) static void kept(long *count) {
  __transaction_atomic { ++*count; }
}

__attribute__((noinline)) static void undone(long *count) {
  __transaction_atomic {
    ++*count;
    __transaction_cancel;
  }
}

static void *run(void *count) {
  for (int i = 0; i < TIMES; ++i) {
    kept(count);
    undone(count);
  }
  return NULL;
}

int main(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    if (pthread_create(&threads[i], NULL, run, &own[i].count) != 0)
      return 2;
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
  return own[0].count == TIMES && own[1].count == TIMES ? 0 : 1;
}
