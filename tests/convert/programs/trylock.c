// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A trylock under a lock of the same array must fail on the stripe that the thread holds, and on no
// other: an eviction that would otherwise take the slot in use. The lock's pointer is what the
// release gets.
#include "threads.h"

enum { kSlots = 16, kStripes = 4 };

static pthread_mutex_t slot_locks[kStripes];
static long used[kSlots];
static long own_stripe_taken;
static long evictions;

static void slot_lock(unsigned slot) { pthread_mutex_lock(&slot_locks[slot % kStripes]); }

static void slot_unlock(unsigned slot) { pthread_mutex_unlock(&slot_locks[slot % kStripes]); }

static void *slot_trylock(unsigned slot) {
  pthread_mutex_t *lock = &slot_locks[slot % kStripes];
  if (pthread_mutex_trylock(lock) == 0)
    return lock;
  return NULL;
}

static void slot_trylock_unlock(void *lock) { pthread_mutex_unlock((pthread_mutex_t *)lock); }

// Called with the lock of `mine` held.
static void evict(unsigned mine) {
  for (unsigned slot = 0; slot < kSlots; ++slot) {
    void *hold = slot_trylock(slot);
    if (hold == NULL)
      continue;
    if (slot % kStripes == mine % kStripes)
      ++own_stripe_taken;
    if (used[slot] > 2) {
      used[slot] = 0;
      ++evictions;
    }
    slot_trylock_unlock(hold);
  }
}

static void work(unsigned thread) {
  for (long i = 0; i < kRounds / 10; ++i) {
    const unsigned slot = (unsigned)(thread + i * 7) % kSlots;
    slot_lock(slot);
    const long before = ++used[slot];
    if (i % 8 == 0)
      evict(slot);
    if (used[slot] != before)
      ++own_stripe_taken;
    slot_unlock(slot);
  }
}

int main(int argc, char **argv) {
  for (unsigned i = 0; i < kStripes; ++i)
    pthread_mutex_init(&slot_locks[i], NULL);
  run(argc, argv, work);
  return expect("own stripe taken", own_stripe_taken, 0) + expect("evicted", evictions > 0, 1);
}
