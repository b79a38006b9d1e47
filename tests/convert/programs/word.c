// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Locks that become words, as memcached's locks of items: held around sections of another lock, and
// tried within these. What they guard is touched plainly by who holds them outside, and by
// transactions within.
#include "threads.h"

enum { kLocks = 8, kItems = 64 };

static struct item {
  long first, second;
} items[kItems];
static pthread_mutex_t *item_locks;
static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static long moved, looked, busy, walked;

static void lock_item(unsigned i) { pthread_mutex_lock(&item_locks[i % kLocks]); }
static void unlock_item(unsigned i) { pthread_mutex_unlock(&item_locks[i % kLocks]); }

static void *try_item(unsigned i) {
  pthread_mutex_t *lock = &item_locks[i % kLocks];
  return pthread_mutex_trylock(lock) == 0 ? lock : NULL;
}

static void unlock_tried(void *lock) { pthread_mutex_unlock((pthread_mutex_t *)lock); }

static void change(struct item *item) {
  if (item->first != item->second)
    abort();
  ++item->first;
  for (volatile int i = 0; i < 20; ++i) {
  }
  ++item->second;
}

__attribute__((noinline)) static void move(unsigned i) {
  lock_item(i);
  change(&items[i]);
  pthread_mutex_lock(&list_lock);
  ++moved;
  pthread_mutex_unlock(&list_lock);
  unlock_item(i);
}

__attribute__((noinline)) static void look(unsigned from) {
  pthread_mutex_lock(&list_lock);
  for (unsigned i = from; i < from + 4; ++i) {
    void *hold = try_item(i % kItems);
    if (hold == NULL) {
      ++busy;
      continue;
    }
    struct item *item = &items[i % kItems];
    if (item->first != item->second)
      abort();
    ++item->first;
    ++item->second;
    ++looked;
    unlock_tried(hold);
  }
  pthread_mutex_unlock(&list_lock);
}

// The next one is taken before this one is given back.
__attribute__((noinline)) static void walk(unsigned from) {
  const unsigned first = from % (kLocks - 1);
  lock_item(first);
  lock_item(first + 1);
  unlock_item(first);
  change(&items[first + 1]);
  __atomic_fetch_add(&walked, 1, __ATOMIC_RELAXED);
  unlock_item(first + 1);
}

static void work(unsigned thread) {
  unsigned random = thread * 2654435761U + 1;
  for (unsigned round = 0; round < (unsigned)kRounds; ++round) {
    random = random * 1664525U + 1013904223U;
    const unsigned i = (random >> 16) % kItems;
    if (round % 4 == 0)
      look(i);
    else
      move(i);
    walk(i);
  }
}

int main(int argc, char **argv) {
  item_locks = calloc(kLocks, sizeof *item_locks);
  for (unsigned i = 0; i < kLocks; ++i)
    pthread_mutex_init(&item_locks[i], NULL);
  const long threads = run(argc, argv, work);
  long first = 0, second = 0;
  for (unsigned i = 0; i < kItems; ++i) {
    first += items[i].first;
    second += items[i].second;
  }
  return expect("moved", moved, threads * (kRounds - kRounds / 4)) |
         expect("looked", looked + busy, threads * (kRounds / 4) * 4) |
         // Nobody else has them.
         (threads == 1 ? expect("busy", busy, 0) : 0) |
         expect("first", first, moved + looked + walked) | expect("second", second, first);
}
