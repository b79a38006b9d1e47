// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// captured THREADS ROUNDS: sections that allocate nodes, fill them partly before and partly after
// others know them, themselves and by functions, and push them onto a list; sections that take
// nodes off, check and free them. What accesses without barriers and with barriers do to one node
// must fit together. Status 0: all nodes were whole, and none was lost.
#include "interleave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define ATOMIC __attribute__((atomic))
enum { kWords = 4, kChain = 3, kInterleaves = 4 }; // calls of interleave() in a round

struct node {
  struct node *next;
  unsigned long value;
  unsigned long number; // of the push
  unsigned long words[kWords];
  char text[8];
};

static struct node *head;
static unsigned long pushes, pops, wrong;
static unsigned long steps[kWords]; // no section writes them
static unsigned long *table;        // nor what it points to

static unsigned long word_of(const struct node *node, int i) {
  return node->value * steps[i] + table[i] + node->number;
}

__attribute__((noinline)) static void fill(struct node *node) {
  for (int i = 1; i < kWords; ++i)
    node->words[i] = word_of(node, i);
  ++node->words[0];
}

static struct node *make(unsigned long value) {
  struct node *made = malloc(sizeof *made);
  if (made == NULL)
    return NULL;
  memset(made, 0x55, sizeof *made);
  made->value = value;
  return made;
}

static int is_whole(const struct node *node) {
  for (int i = 0; i < kWords; ++i)
    if (node->words[i] != word_of(node, i))
      return 0;
  return strncmp(node->text, "node", 5) == 0;
}

// Fills before the node is known.
ATOMIC static void push(unsigned long value) {
  struct node *made = make(value);
  if (made == NULL)
    return;
  made->number = pushes++;
  memcpy(made->text, "node", 5);
  interleave();
  for (int i = 0; i < kWords; ++i)
    made->words[i] = word_of(made, i);
  made->next = head;
  head = made;
}

// Writes, has another function read that and write, and writes again; some of it when the node is
// in the list.
ATOMIC static void push_half(unsigned long value) {
  struct node *made = make(value + 1);
  if (made == NULL)
    return;
  made->number = pushes++;
  made->words[0] = word_of(made, 0) - 2;
  fill(made);
  const unsigned long first = made->words[0];
  made->next = head;
  head = made;
  interleave();
  made->words[0] = first + 1;
  made->text[0] = 'n';
  memcpy(made->text + 1, "ode", 4);
}

// Each node of a chain stays known while the next one is made; one more is made and freed.
ATOMIC static void push_chain(unsigned long value) {
  struct node *last = NULL;
  struct node *first = NULL;
  for (int i = 0; i < kChain; ++i) {
    struct node *made = make(value);
    struct node *spare = make(value);
    if (made == NULL || spare == NULL)
      abort();
    made->next = NULL;
    made->number = pushes++;
    spare->number = made->number;
    fill(spare);
    for (int j = 1; j < kWords; ++j)
      made->words[j] = spare->words[j];
    made->words[0] = word_of(made, 0);
    free(spare);
    if (last != NULL)
      last->next = made;
    else
      first = made;
    memcpy(made->text, "node", 5);
    last = made;
  }
  interleave();
  last->next = head;
  head = first;
}

ATOMIC static int pop(void) {
  struct node *taken = head;
  interleave();
  if (taken == NULL)
    return 0;
  if (!is_whole(taken))
    ++wrong;
  head = taken->next;
  ++pops;
  free(taken);
  return 1;
}

static pthread_barrier_t start;

struct work {
  unsigned long id;
  int rounds;
  unsigned long restarts;
};

static void *worker(void *argument) {
  struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i) {
    const unsigned long value = work->id * 1000 + (unsigned long)i;
    push(value);
    push_half(value);
    push_chain(value);
    pop();
  }
  work->restarts = interleaved() - kInterleaves * (unsigned long)work->rounds;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = atoi(argv[1]);
  const int rounds = atoi(argv[2]);
  table = malloc(kWords * sizeof *table);
  for (int i = 0; i < kWords; ++i) {
    steps[i] = (unsigned long)i + 3;
    table[i] = (unsigned long)i * 7;
  }
  pthread_t handles[64];
  struct work work[64];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    work[i] = (struct work){(unsigned long)i, rounds, 0};
    pthread_create(&handles[i], NULL, worker, &work[i]);
  }
  unsigned long restarts = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    restarts += work[i].restarts;
  }
  unsigned long left = 0;
  unsigned long numbers = 0;
  for (const struct node *node = head; node != NULL; node = node->next, ++left) {
    wrong += !is_whole(node);
    numbers += node->number < pushes;
  }
  const unsigned long all = (2ul + kChain) * (unsigned long)threads * (unsigned long)rounds;
  printf("pushes %lu of %lu, pops %lu, left %lu, wrong %lu, restarts %lu\n", pushes, all, pops,
         left, wrong, restarts);
  return !(pushes == all && left + pops == all && numbers == left && wrong == 0);
}
