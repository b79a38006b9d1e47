// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// taken THREADS ROUNDS: sections take nodes out of a list; their thread then writes them plainly,
// with what nobody else may follow, and puts them back or unmaps them. Other sections walk the
// list, and follow pointers in the nodes that no section ever writes. Status 0: nobody has followed
// anything of a node that was private (that ends the program by a signal), and all sums fit.
#include "interleave.h"

#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#define ATOMIC __attribute__((atomic))
enum { kNodes = 6, kValue = 7, kBytes = 128 << 10 }; // so that free() unmaps a node

struct node {
  struct node *next;
  long *where; // to `value`; a node that somebody has for himself: to nothing
  long value;
  char rest[kBytes];
};

static struct node *head;
static long length, wrong;

ATOMIC static struct node *take(void) {
  struct node *taken = head;
  interleave();
  if (taken != NULL) {
    head = taken->next;
    --length;
  }
  return taken;
}

ATOMIC static void put(struct node *node) {
  node->next = head;
  head = node;
  ++length;
}

ATOMIC static void walk(void) {
  long sum = 0, nodes = 0;
  for (struct node *node = head; node != NULL; node = node->next) {
    interleave();
    sum += *node->where;
    ++nodes;
  }
  if (sum != nodes * kValue || nodes != length)
    ++wrong;
}

static struct node *make(void) {
  struct node *made = malloc(sizeof *made);
  if (made == NULL)
    abort();
  made->value = kValue;
  made->where = &made->value;
  return made;
}

static pthread_barrier_t start;
struct work {
  unsigned long id;
  int rounds;
};

static void *worker(void *argument) {
  const struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i) {
    if ((work->id + (unsigned long)i) % 2 == 0) {
      walk();
      continue;
    }
    struct node *mine = take();
    if (mine == NULL)
      continue;
    mine->where = (long *)8;
    interleave();
    if (i % 4 < 2) {
      free(mine);
      mine = make();
    }
    mine->where = &mine->value;
    put(mine);
  }
  return NULL;
}

int main(int argc, char **argv) {
  const int threads = argc > 2 ? atoi(argv[1]) : 0;
  const int rounds = argc > 2 ? atoi(argv[2]) : 0;
  if (threads < 1 || rounds < 1)
    return 2;
  mallopt(M_MMAP_THRESHOLD, kBytes / 2);
  for (int i = 0; i < kNodes; ++i)
    put(make());
  pthread_t thread[threads];
  struct work work[threads];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    work[i] = (struct work){(unsigned long)i, rounds * 20};
    if (pthread_create(&thread[i], NULL, worker, &work[i]) != 0)
      return 2;
  }
  for (int i = 0; i < threads; ++i)
    pthread_join(thread[i], NULL);
  walk();
  if (wrong != 0 || length != kNodes)
    fprintf(stderr, "%ld sums were wrong, %ld nodes are left\n", wrong, length);
  return wrong != 0 || length != kNodes;
}
