// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A condition that is unmapped as soon as the last waiter has been woken, which need not have
// returned: it does not look at the condition any more.
#define _GNU_SOURCE
#include "threads.h"

#include <sched.h>
#include <sys/mman.h>

enum { kTimes = 500 };
struct record {
  long before[4];
  pthread_cond_t opened;
};
static struct pair {
  pthread_mutex_t lock;
  struct record *record;
  long waiting, opened;
} pairs[16];

static struct record *make_record(void) {
  struct record *made =
      mmap(NULL, sizeof *made, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  pthread_cond_init(&made->opened, NULL);
  return made;
}

static void wait_for_opening(struct pair *at, long time) {
  pthread_mutex_lock(&at->lock);
  at->waiting = time;
  struct record *record = at->record;
  while (at->opened < time)
    pthread_cond_wait(&record->opened, &at->lock);
  pthread_mutex_unlock(&at->lock);
}

static int is_waiting(struct pair *at, long time) {
  pthread_mutex_lock(&at->lock);
  const int is = at->waiting == time;
  pthread_mutex_unlock(&at->lock);
  return is;
}

static void open(struct pair *at, long time) {
  struct record *next = make_record();
  while (!is_waiting(at, time))
    sched_yield();
  pthread_mutex_lock(&at->lock);
  struct record *old = at->record;
  at->opened = time;
  at->record = next;
  pthread_cond_broadcast(&old->opened);
  pthread_mutex_unlock(&at->lock);
  pthread_cond_destroy(&old->opened);
  munmap(old, sizeof *old);
}

static void work(unsigned thread) {
  for (long time = 1; time <= kTimes; ++time)
    (thread % 2 == 0 ? wait_for_opening : open)(&pairs[thread / 2], time);
}

int main(int argc, char **argv) {
  const unsigned count = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  for (unsigned i = 0; i < count; ++i) {
    pthread_mutex_init(&pairs[i].lock, NULL);
    pairs[i].record = make_record();
  }
  run_in(2 * count, work);
  int wrong = 0;
  for (unsigned i = 0; i < count; ++i)
    wrong += expect("opened", pairs[i].opened, kTimes);
  return wrong;
}
