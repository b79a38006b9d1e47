// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Sections of locks that guard their data, each far from short: they walk lists, compare and copy
// bytes, allocate, call by pointer. Now and then one comes to another lock, or to what cannot be
// undone, when it has written in all of these ways; what it wrote counts once. Some hold two such
// locks.
#include "threads.h"
#include <string.h>
#include <unistd.h>

enum { kStripes = 4, kNodes = 32, kBytes = 40 };
struct text {
  char bytes[kBytes];
};
struct node {
  struct node *next;
  long key, visits, sum;  // sum is three times visits
  struct text text, copy; // the same
  char *allocated;        // says what visits is
  unsigned char small;
  unsigned short medium;
};
static struct stripe {
  pthread_mutex_t own;
  struct node *first;
  long visits, changes;
} stripes[kStripes];
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static long counted; // all guards it
static long total;   // of all threads, at the end

static void add_to_sum(struct node *node) { node->sum += 2; }
static void add_more(struct node *node) { node->sum += 1; }
static void (*volatile adds[2])(struct node *) = {add_to_sum, add_more};

static struct node *find(struct stripe *stripe, long key, const struct text *name) {
  for (struct node *node = stripe->first; node != NULL; node = node->next)
    if (node->key == key && memcmp(node->copy.bytes, node->text.bytes, kBytes) == 0 &&
        strncmp(node->text.bytes, name->bytes, 4) == 0)
      return node;
  return NULL;
}

static void say(struct node *node) {
  free(node->allocated);
  node->allocated = malloc(24);
  snprintf(node->allocated, 24, "%ld", node->visits);
}

// Leads away where `how` says so; *seen is in the caller's frame.
static void visit(struct stripe *stripe, long key, const struct text *name, unsigned how,
                  long *seen) {
  pthread_mutex_lock(&stripe->own);
  struct node *node = find(stripe, key, name);
  if (node == NULL)
    abort();
  *seen += 1;
  stripe->visits += 1;
  node->visits += 1;
  node->small += 1;
  node->medium += 1;
  node->sum -= 5;
  for (int i = 0; i < 2; ++i)
    adds[i](node);
  node->sum += 5;
  memset(node->text.bytes + 4, (int)(node->visits & 127), kBytes - 4);
  say(node);
  if (how % 50 == 7) {
    pthread_mutex_lock(&all);
    counted += 1;
    pthread_mutex_unlock(&all);
  }
  if (how % 500 == 9 && write(STDERR_FILENO, "", 0) != 0)
    abort();
  node->copy = node->text;
  pthread_mutex_unlock(&stripe->own);
}

// A node that nobody looks for goes to another stripe.
static void change(struct stripe *from, struct stripe *to) {
  struct stripe *lower = from < to ? from : to;
  struct stripe *upper = from < to ? to : from;
  pthread_mutex_lock(&lower->own);
  lower->changes += 1;
  pthread_mutex_lock(&upper->own);
  struct node *node = from->first;
  if (node != NULL && node->key >= kNodes) {
    from->first = node->next;
    node->next = to->first;
    to->first = node;
  }
  pthread_mutex_unlock(&upper->own);
  pthread_mutex_unlock(&lower->own);
}

static void check(struct stripe *stripe) {
  pthread_mutex_lock(&stripe->own);
  long visits = 0;
  for (struct node *node = stripe->first; node != NULL; node = node->next) {
    if (node->key >= kNodes)
      continue;
    visits += node->visits;
    if (node->sum != 3 * node->visits || node->small != (unsigned char)node->visits ||
        node->medium != (unsigned short)node->visits ||
        strtol(node->allocated, NULL, 10) != node->visits ||
        memcmp(&node->text, &node->copy, sizeof node->text) != 0)
      abort();
  }
  if (visits != stripe->visits)
    abort();
  pthread_mutex_unlock(&stripe->own);
}

static void work(unsigned thread) {
  const struct text name = {"node"};
  long seen = 0;
  for (unsigned i = 0; i < kRounds; ++i) {
    const long key = (i * 7 + thread) % kNodes;
    visit(&stripes[key % kStripes], key, &name, i, &seen);
    const unsigned one = (i + thread) % kStripes;
    const unsigned other = (one + 1 + i / 3 % (kStripes - 1)) % kStripes;
    change(&stripes[one], &stripes[other]);
    if (i % 16 == 0)
      check(&stripes[i / 16 % kStripes]);
  }
  __atomic_add_fetch(&total, seen, __ATOMIC_RELAXED);
}

static void put(long key) {
  struct node *node = calloc(1, sizeof *node);
  node->key = key;
  memcpy(node->text.bytes, "node", 4);
  node->copy = node->text;
  say(node);
  struct stripe *stripe = &stripes[key % kStripes];
  node->next = stripe->first;
  stripe->first = node;
}

int main(int argc, char **argv) {
  for (int i = 0; i < kStripes; ++i)
    pthread_mutex_init(&stripes[i].own, NULL);
  for (long i = 0; i < kNodes + 6; ++i)
    put(i);
  const long threads = run(argc, argv, work);
  long visits = 0, changes = 0, nodes = 0;
  for (int i = 0; i < kStripes; ++i) {
    check(&stripes[i]);
    visits += stripes[i].visits;
    changes += stripes[i].changes;
    for (struct node *node = stripes[i].first; node != NULL; node = node->next)
      ++nodes;
  }
  return expect("visits", visits, threads * kRounds) | expect("seen", total, threads * kRounds) |
         expect("changes", changes, threads * kRounds) |
         expect("counted", counted, threads * (kRounds / 50)) | expect("nodes", nodes, kNodes + 6);
}
