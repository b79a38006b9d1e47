// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shared structures under hardware transactions of the simulated machine, or under one ticket lock:
//
//   structures WHAT HOW THREADS [OPERATIONS]
//
// WHAT: counter (one word, no think time), list (sorted, 64 keys), tree (binary, 512 keys), hash
// (256 chains, 2,048 keys). HOW: htm, lock. Every thread does OPERATIONS (500, 100, 150, 200): on
// the counter increments, else two lookups to one insertion and one removal, of keys drawn by a
// generator of its own. A transaction subscribes to the lock, and takes it where its xbegin says
// so. Region 1 is what is measured. Ends with 1 if the structure does not hold what the threads
// have put there.
#include "tandem/machine.h"

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { kThreads = 64, kNodes = 4096, kChains = 256 };

struct Node {
  uint64_t key;
  struct Node *next; // of a list; the left child of a tree
  struct Node *right;
  char apart[40];
};

static struct {
  _Alignas(64) uint32_t next;
  uint32_t serving;
} lock;
static _Alignas(64) uint64_t counter;
static _Alignas(64) struct Node *heads[kChains];
static struct Node pool[kThreads][kNodes];
static unsigned threads, operations, keys, arrived;
static int uses_transactions;

struct Worker {
  _Alignas(64) pthread_t thread;
  unsigned number, used;
  struct Node *free;
  uint64_t random;
  int64_t sum; // insertions less removals
};
static struct Worker workers[kThreads];

// The lock is taken: two words that differ.
static int held(void) {
  return __atomic_load_n(&lock.next, __ATOMIC_ACQUIRE) !=
         __atomic_load_n(&lock.serving, __ATOMIC_ACQUIRE);
}

static void acquire(void) {
  const uint32_t mine = __atomic_fetch_add(&lock.next, 1, __ATOMIC_ACQUIRE);
  while (__atomic_load_n(&lock.serving, __ATOMIC_ACQUIRE) != mine) {
  }
}

static void release(void) { __atomic_store_n(&lock.serving, lock.serving + 1, __ATOMIC_RELEASE); }

// 1: in a transaction.
static int enter(void) {
  while (uses_transactions) {
    if (tandem_xbegin() < 0)
      break;
    if (!held())
      return 1;
    tandem_xend();
    while (held()) {
    }
  }
  acquire();
  return 0;
}

static void leave(int transaction) {
  if (transaction)
    tandem_xend();
  else
    release();
}

static uint64_t draw(struct Worker *self) {
  self->random ^= self->random << 13;
  self->random ^= self->random >> 7;
  self->random ^= self->random << 17;
  return self->random;
}

// --- sorted lists, the chains of a hash table ----------------------------------------------------

static struct Node **place_in(struct Node **at, uint64_t key) {
  while (*at != NULL && (*at)->key < key)
    at = &(*at)->next;
  return at;
}

static int list_insert(struct Node **head, struct Node *node) {
  struct Node **at = place_in(head, node->key);
  if (*at != NULL && (*at)->key == node->key)
    return 0;
  node->next = *at;
  *at = node;
  return 1;
}

static struct Node *list_remove(struct Node **head, uint64_t key) {
  struct Node **at = place_in(head, key);
  struct Node *found = *at;
  if (found == NULL || found->key != key)
    return NULL;
  *at = found->next;
  return found;
}

// --- a binary tree -------------------------------------------------------------------------------

static struct Node **place_in_tree(struct Node **at, uint64_t key) {
  while (*at != NULL && (*at)->key != key)
    at = key < (*at)->key ? &(*at)->next : &(*at)->right;
  return at;
}

static int tree_insert(struct Node **root, struct Node *node) {
  struct Node **at = place_in_tree(root, node->key);
  if (*at != NULL)
    return 0;
  node->next = node->right = NULL;
  *at = node;
  return 1;
}

static struct Node *tree_remove(struct Node **root, uint64_t key) {
  struct Node **at = place_in_tree(root, key);
  struct Node *found = *at;
  if (found == NULL)
    return NULL;
  if (found->next == NULL || found->right == NULL) {
    *at = found->next != NULL ? found->next : found->right;
    return found;
  }
  struct Node **least = &found->right; // takes its place
  while ((*least)->next != NULL)
    least = &(*least)->next;
  struct Node *heir = *least;
  *least = heir->right;
  heir->next = found->next;
  heir->right = found->right;
  *at = heir;
  return found;
}

// --- what the threads do -------------------------------------------------------------------------

enum What { kCounter, kList, kTree, kHash };
static enum What what;

static struct Node **head_of(uint64_t key) { return &heads[what == kHash ? key % kChains : 0]; }

static void look_up(uint64_t key) {
  const int transaction = enter();
  if (what == kTree)
    (void)place_in_tree(head_of(key), key);
  else
    (void)place_in(head_of(key), key);
  leave(transaction);
}

static void insert(struct Worker *self, uint64_t key) {
  struct Node *node = self->free;
  if (node != NULL)
    self->free = node->next;
  else if (self->used < kNodes)
    node = &pool[self->number][self->used++];
  else
    abort();
  node->key = key;
  const int transaction = enter();
  const int done =
      what == kTree ? tree_insert(head_of(key), node) : list_insert(head_of(key), node);
  leave(transaction);
  if (done) {
    ++self->sum;
  } else {
    node->next = self->free;
    self->free = node;
  }
}

static void take_out(struct Worker *self, uint64_t key) {
  const int transaction = enter();
  struct Node *node =
      what == kTree ? tree_remove(head_of(key), key) : list_remove(head_of(key), key);
  leave(transaction);
  if (node == NULL)
    return;
  --self->sum;
  node->next = self->free;
  self->free = node;
}

static void operate(struct Worker *self) {
  if (what == kCounter) {
    const int transaction = enter();
    ++counter;
    leave(transaction);
    return;
  }
  const uint64_t bits = draw(self);
  const uint64_t key = (bits >> 8) % keys;
  switch (bits & 3) {
  case 0:
    insert(self, key);
    return;
  case 1:
    take_out(self, key);
    return;
  default:
    look_up(key);
  }
}

static void wait_for_all(unsigned count) {
  __atomic_fetch_add(&arrived, 1, __ATOMIC_ACQ_REL);
  while (__atomic_load_n(&arrived, __ATOMIC_ACQUIRE) < count) {
  }
}

static void *run(void *argument) {
  struct Worker *self = argument;
  wait_for_all(threads);
  if (self->number == 0)
    TANDEM_MACHINE_BEGIN(1);
  for (unsigned i = 0; i < operations; ++i)
    operate(self);
  wait_for_all(2 * threads);
  if (self->number == 0)
    TANDEM_MACHINE_END(1);
  return NULL;
}

static uint64_t size_of(const struct Node *node) {
  if (node == NULL)
    return 0;
  return 1 + size_of(node->next) + (what == kTree ? size_of(node->right) : 0);
}

static int check(void) {
  if (what == kCounter)
    return counter == (uint64_t)threads * operations;
  int64_t expected = keys / 2;
  uint64_t found = 0;
  for (unsigned i = 0; i < threads; ++i)
    expected += workers[i].sum;
  for (unsigned i = 0; i < kChains; ++i)
    found += size_of(heads[i]);
  return expected == (int64_t)found;
}

// Half of the keys, in an order that keeps a tree flat.
static void fill(void) {
  struct Worker *self = &workers[0];
  unsigned left = keys / 2;
  self->random = 88172645463325252U;
  while (left > 0) {
    const int64_t before = self->sum;
    insert(self, (draw(self) >> 8) % keys);
    left -= self->sum > before ? 1 : 0;
  }
  self->sum = 0;
}

int main(int argc, char **argv) {
  static const char *const kNames[] = {"counter", "list", "tree", "hash"};
  static const unsigned kKeys[] = {0, 64, 512, 2048};
  static const unsigned kUsual[] = {500, 100, 150, 200};
  int named = -1;
  for (int i = 0; (argc == 4 || argc == 5) && i < 4; ++i)
    if (strcmp(argv[1], kNames[i]) == 0)
      named = i;
  if (named < 0 || (strcmp(argv[2], "htm") != 0 && strcmp(argv[2], "lock") != 0)) {
    fprintf(stderr, "usage: structures counter|list|tree|hash htm|lock THREADS [OPERATIONS]\n");
    return 2;
  }
  what = (enum What)named;
  keys = kKeys[named];
  threads = (unsigned)atoi(argv[3]);
  operations = argc == 5 ? (unsigned)atoi(argv[4]) : kUsual[what];
  if (threads < 1 || threads > kThreads || operations < 1 || operations > 1000000)
    return 2;
  fill(); // by the lock
  uses_transactions = strcmp(argv[2], "htm") == 0;
  for (unsigned i = 0; i < threads; ++i) {
    memset(pool[i] + workers[i].used, 0, sizeof pool[i] / 8); // touched before it is measured
    workers[i].number = i;
    workers[i].random = 0x9e3779b97f4a7c15U * (i + 1);
  }
  for (unsigned i = 1; i < threads; ++i)
    pthread_create(&workers[i].thread, NULL, run, &workers[i]);
  run(&workers[0]);
  for (unsigned i = 1; i < threads; ++i)
    pthread_join(workers[i].thread, NULL);
  printf("%s\n", check() ? "right" : "wrong");
  return check() ? 0 : 1;
}
