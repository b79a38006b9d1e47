// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Who takes an item out of a slot, whose lock guards its data, has it for itself: also beside a
// section of another lock that began when the item was still guarded by that one, and is not yet
// undone.
#include "threads.h"
#include <sched.h>

struct item {
  long a, b;
};
struct slot {
  pthread_mutex_t own;
  struct item *item;
} slot;
static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static struct item *head;
static unsigned long scrap[64];
static long taken, bad;
static int stop;

static void put(struct item *item) {
  pthread_mutex_lock(&all);
  head = item;
  pthread_mutex_unlock(&all);
}
static void move(void) {
  pthread_mutex_lock(&all);
  struct item *item = head;
  if (item != NULL) {
    head = NULL;
    pthread_mutex_lock(&slot.own);
    slot.item = item;
    pthread_mutex_unlock(&slot.own);
  }
  pthread_mutex_unlock(&all);
}
static struct item *take(void) {
  pthread_mutex_lock(&slot.own);
  struct item *item = slot.item;
  slot.item = NULL;
  pthread_mutex_unlock(&slot.own);
  return item;
}
static void touch(long value) {
  pthread_mutex_lock(&all);
  struct item *item = head;
  if (item != NULL) {
    item->a = value;
    unsigned long hash = (unsigned long)value;
    for (unsigned long i = 0; i < 5000; ++i)
      hash = (hash ^ i) * 0x9e3779b97f4a7c15UL;
    scrap[hash % 64] = hash;
    item->b = value;
  }
  pthread_mutex_unlock(&all);
}

static void use(struct item *item) {
  for (int i = 0; i < 500; ++i) {
    item->a = -taken;
    item->b = -taken;
    __asm__ volatile("pause" : : : "memory");
    if (item->a != -taken || item->b != -taken)
      ++bad;
  }
}

static void work(unsigned thread) {
  if (thread == 0) {
    while (taken < kRounds / 10) {
      struct item *item = take();
      if (item == NULL) {
        sched_yield();
        continue;
      }
      ++taken;
      use(item);
      put(item);
    }
    __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
  } else {
    for (long i = 0; !__atomic_load_n(&stop, __ATOMIC_RELAXED); ++i)
      if (thread == 1)
        move();
      else
        touch(i);
  }
}

int main(void) {
  static struct item item;
  pthread_mutex_init(&slot.own, NULL);
  head = &item;
  run_in(3, work);
  return expect("bad", bad, 0);
}
