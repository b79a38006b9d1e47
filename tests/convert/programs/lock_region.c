// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Regions of a converted lock that stay real: they poll, with an item's lock held, for room that
// other threads make in sections. As sections they would wait for ever. Until room is there the
// item is half changed, which nobody else may see, neither who locks it nor who tries to; who holds
// it and tries to take it must fail.
#include "threads.h"

#include <unistd.h>

enum { kItems = 8, kStripes = 4 };

static pthread_mutex_t item_locks[kStripes];
static long first[kItems], second[kItems];
static pthread_mutex_t room_lock = PTHREAD_MUTEX_INITIALIZER;
static long room;
static pthread_mutex_t wrong_lock = PTHREAD_MUTEX_INITIALIZER;
static long wrong;

static void item_lock(unsigned item) { pthread_mutex_lock(&item_locks[item % kStripes]); }

static void item_unlock(unsigned item) { pthread_mutex_unlock(&item_locks[item % kStripes]); }

static void *item_trylock(unsigned item) {
  pthread_mutex_t *lock = &item_locks[item % kStripes];
  if (pthread_mutex_trylock(lock) == 0)
    return lock;
  return NULL;
}

static void item_trylock_unlock(void *lock) { pthread_mutex_unlock((pthread_mutex_t *)lock); }

static void found_wrong(void) {
  pthread_mutex_lock(&wrong_lock);
  ++wrong;
  pthread_mutex_unlock(&wrong_lock);
}

static int take_room(void) {
  int taken = 0;
  pthread_mutex_lock(&room_lock);
  if (room > 0) {
    --room;
    taken = 1;
  }
  pthread_mutex_unlock(&room_lock);
  return taken;
}

static void move(unsigned item) {
  item_lock(item);
  ++first[item];
  while (!take_room())
    usleep(10);
  void *own = item_trylock(item);
  if (own != NULL) {
    found_wrong();
    item_trylock_unlock(own);
  }
  ++second[item];
  item_unlock(item);
}

static void change(unsigned item) {
  item_lock(item);
  if (first[item] != second[item])
    found_wrong();
  ++first[item];
  ++second[item];
  item_unlock(item);
}

static void look(unsigned item) {
  void *lock = item_trylock(item);
  if (lock == NULL)
    return;
  if (first[item] != second[item])
    found_wrong();
  item_trylock_unlock(lock);
}

static void make_room(void) {
  pthread_mutex_lock(&room_lock);
  ++room;
  pthread_mutex_unlock(&room_lock);
}

enum { kMoves = 40 };

static void work(unsigned thread) {
  for (unsigned i = 0; i < kMoves; ++i) {
    for (unsigned j = 0; j < 20; ++j)
      look((thread + i + j) % kItems);
    make_room();
    move((thread + i) % kItems);
    change((thread * 3 + i) % kItems);
  }
}

// Makes room late, so that there are waits.
static void *late(void *unused) {
  (void)unused;
  for (unsigned i = 0; i < kMoves; ++i) {
    usleep(500);
    make_room();
  }
  return NULL;
}

static void *late_moves(void *unused) {
  (void)unused;
  for (unsigned i = 0; i < kMoves; ++i)
    move(i % kItems);
  return NULL;
}

int main(int argc, char **argv) {
  for (unsigned i = 0; i < kStripes; ++i)
    pthread_mutex_init(&item_locks[i], NULL);
  pthread_t others[2];
  pthread_create(&others[0], NULL, late, NULL);
  pthread_create(&others[1], NULL, late_moves, NULL);
  const long n = run(argc, argv, work);
  pthread_join(others[0], NULL);
  pthread_join(others[1], NULL);
  long sum = 0;
  for (unsigned i = 0; i < kItems; ++i)
    sum += first[i] + second[i];
  return expect("sum", sum, 2 * (2 * kMoves * n + kMoves)) + expect("wrong", wrong, 0) +
         expect("room", room, 0);
}
