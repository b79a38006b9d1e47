// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks by their fields: one that a wrapper waits with, which is put into its callers, and one that
// is an object of its own.
#include "threads.h"

struct store {
  pthread_mutex_t mutex;
  pthread_cond_t filled;
  pthread_mutex_t *totals;
  long items;
  long total;
};

static void wait_with(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  if (pthread_cond_wait(condition, mutex) != 0)
    abort();
}

static void take(struct store *from) {
  pthread_mutex_lock(&from->mutex);
  while (from->items == 0)
    wait_with(&from->filled, &from->mutex);
  --from->items;
  pthread_mutex_unlock(&from->mutex);
}

static void put(struct store *to) {
  pthread_mutex_lock(&to->mutex);
  ++to->items;
  pthread_cond_signal(&to->filled);
  pthread_mutex_unlock(&to->mutex);
}

static void add(struct store *one, struct store *other, long n) {
  pthread_mutex_lock(one->totals);
  one->total += n;
  pthread_mutex_unlock(one->totals);
  pthread_mutex_lock(other->totals);
  other->total += n;
  pthread_mutex_unlock(other->totals);
}

static struct store *stores[2];

static void work(unsigned thread) {
  for (unsigned i = 0; i < kRounds; ++i) {
    put(stores[(thread + i) % 2]);
    add(stores[0], stores[1], 1);
    take(stores[(thread + i) % 2]);
  }
}

int main(int argc, char **argv) {
  pthread_mutex_t *totals = malloc(sizeof *totals);
  pthread_mutex_init(totals, NULL);
  for (int i = 0; i < 2; ++i) {
    stores[i] = calloc(1, sizeof *stores[i]);
    pthread_mutex_init(&stores[i]->mutex, NULL);
    pthread_cond_init(&stores[i]->filled, NULL);
    stores[i]->totals = totals;
  }
  const unsigned threads = run(argc, argv, work);
  return expect("total", stores[0]->total + stores[1]->total, 2L * threads * kRounds) +
         expect("items", stores[0]->items + stores[1]->items, 0);
}
