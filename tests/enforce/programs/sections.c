// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// sections THREADS ROUNDS: every kind of section that C offers, all on shared data that ends as it
// began. Status 0: it did.
#include "interleave.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATOMIC __attribute__((atomic))

// A list on the heap, with fields of every width.
struct node {
  long key;
  struct node *next;
  char narrow;
  short half;
  float single_precision;
  double double_precision;
};
static struct node *head;
static long count;
static double sum;
static int slots[16];

ATOMIC static void push(long key) {
  struct node *node = malloc(sizeof *node);
  node->key = key;
  node->narrow = (char)key;
  node->half = (short)key;
  node->single_precision = (float)(key & 0xffff);
  node->double_precision = (double)key;
  node->next = head;
  interleave();
  head = node;
  ++count;
  sum += node->double_precision;
}

ATOMIC static long pop(void) {
  struct node *node = head;
  if (node == NULL)
    return -1;
  const long key = node->key;
  if (node->narrow != (char)key || node->half != (short)key ||
      node->single_precision != (float)(key & 0xffff))
    return -2;
  struct node *next = node->next;
  interleave();
  head = next;
  --count;
  sum -= node->double_precision;
  free(node);
  return key;
}

// Structures by value, as argument and as result.
struct big {
  long values[8];
};
static struct big shared_big;

ATOMIC static struct big exchange(struct big replacement, int index) {
  struct big old = shared_big;
  interleave();
  replacement.values[index & 7] = old.values[index & 7] + 1;
  memcpy(&shared_big, &replacement, sizeof shared_big);
  return old;
}

// Indirect calls.
static void add(int *where, int by) {
  const int old = *where;
  interleave();
  *where = old + by;
}
static void subtract(int *where, int by) { *where -= by; }
typedef void (*operation)(int *, int);
static operation operations[2] = {add, subtract};

ATOMIC static void through(int index) {
  operations[index & 1](&slots[index & 15], 1);
  operations[~index & 1](&slots[index & 15], 1);
}

// Arguments without a fixed number.
ATOMIC static long total_of(int arguments, ...) {
  va_list list;
  va_start(list, arguments);
  long total = 0;
  while (arguments-- > 0)
    total += va_arg(list, long);
  va_end(list);
  count += total;
  interleave();
  count -= total;
  return total;
}

// A section that calls itself, and one that calls others.
ATOMIC static int recurse(int depth) {
  if (depth == 0)
    return slots[0] - slots[0];
  slots[depth & 15] += depth;
  interleave();
  const int result = recurse(depth - 1) + 1;
  slots[depth & 15] -= depth;
  return result;
}

ATOMIC static long nested(long key) {
  push(key);
  return pop();
}

// Irrevocable now and then.
ATOMIC static void cold(int round) {
  ++slots[3];
  if (round % 97 == 0)
    fputs("", stderr);
  --slots[3];
}

// No thread begins before all are there: their sections overlap.
static pthread_barrier_t start;

struct work {
  long id;
  int rounds;
};

static void *worker(void *argument) {
  const struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i) {
    push(i);
    through(i);
    if (total_of(3, 1L, 2L, (long)i) != 3 + i)
      abort();
    if (recurse(4) != 4)
      abort();
    cold(i);
    struct big mine;
    for (int j = 0; j < 8; ++j)
      mine.values[j] = work->id;
    exchange(mine, i);
    if (nested(5) != 5)
      abort();
    if (pop() < 0)
      abort();
  }
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = atoi(argv[1]);
  pthread_t handles[64];
  struct work work[64];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (long i = 0; i < threads; ++i) {
    work[i] = (struct work){i, atoi(argv[2])};
    pthread_create(&handles[i], NULL, worker, &work[i]);
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  int left = 0;
  for (int i = 0; i < 16; ++i)
    left |= slots[i];
  printf("count %ld, sum %g, slots %d, list %s\n", count, sum, left, head ? "left" : "empty");
  return !(count == 0 && sum == 0 && left == 0 && head == NULL);
}
