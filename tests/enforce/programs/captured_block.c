// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// captured_block THREADS ROUNDS: sections that allocate a node, have a function fill it in the same
// block, and go on with it in other blocks, by themselves and by functions. A second allocation
// keeps the node from being the one that the runtime knows best. Status 0: each section saw what it
// wrote itself, and none was lost.
#include "interleave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ATOMIC __attribute__((atomic))

struct node {
  struct node *next;
  long value;
  long more;
};

static long total; // of all values
static long wrong;

__attribute__((noinline)) static void set(struct node *node) {
  node->value = 5;
  node->more = 6;
}
__attribute__((noinline)) static long get(const struct node *node) { return node->value; }

ATOMIC static long once(int odd) {
  struct node *made = malloc(sizeof *made);
  struct node *extra = calloc(1, sizeof *extra);
  const long before = total;
  set(made);
  interleave();
  if (odd) {
    made->value = 3;
    total += get(extra);
  }
  const long result = get(made);
  total = before + result;
  free(made);
  free(extra);
  return result;
}

// The node gets known in the block that allocates, which is a loop.
ATOMIC static long many(int count) {
  long sum = 0;
  const long before = total;
  for (int i = 0; i < count; ++i) {
    struct node *made = malloc(sizeof *made);
    struct node *extra = calloc(1, sizeof *extra);
    set(made);
    if (i & 1)
      made->value += get(extra) + i;
    sum += get(made);
    free(made);
    free(extra);
  }
  interleave();
  total = before + sum;
  return sum;
}

static pthread_barrier_t start;

struct work {
  int rounds;
  long sum;
  unsigned long restarts;
};

static void *worker(void *argument) {
  struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i) {
    const long one = once(i & 1);
    const long all = many(4);
    if (one != ((i & 1) ? 3 : 5) || all != 4 * 5 + 1 + 3)
      __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
    work->sum += one + all;
  }
  work->restarts = interleaved() - 2 * (unsigned long)work->rounds;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = atoi(argv[1]);
  pthread_t handles[64];
  struct work work[64];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    work[i] = (struct work){atoi(argv[2]), 0, 0};
    pthread_create(&handles[i], NULL, worker, &work[i]);
  }
  unsigned long restarts = 0;
  long sum = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    restarts += work[i].restarts;
    sum += work[i].sum;
  }
  printf("total %ld of %ld, wrong %ld, restarts %lu\n", total, sum, wrong, restarts);
  return total != sum || wrong != 0;
}
