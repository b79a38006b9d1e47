// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A lock for readers and writers of a lock and conditions, in records that are allocated, and freed
// when the last one has been woken. Waits through a function that knows neither.
#include "threads.h"

enum { kCells = 8, kShared = 16 };
struct shared {
  pthread_mutex_t mutex;
  pthread_cond_t free;
  int readers; // -1: a writer
  int users;
  pthread_cond_t unused;
  long cells[kCells];
};
static long torn;

static int wait_here(pthread_cond_t *condition, pthread_mutex_t *mutex) {
  return pthread_cond_wait(condition, mutex);
}

static void begin_read(struct shared *at) {
  pthread_mutex_lock(&at->mutex);
  while (at->readers < 0)
    wait_here(&at->free, &at->mutex);
  ++at->readers;
  pthread_mutex_unlock(&at->mutex);
}

static void begin_write(struct shared *at) {
  pthread_mutex_lock(&at->mutex);
  while (at->readers != 0)
    if (wait_here(&at->free, &at->mutex) != 0)
      abort();
  at->readers = -1;
  pthread_mutex_unlock(&at->mutex);
}

static void end(struct shared *at) {
  pthread_mutex_lock(&at->mutex);
  at->readers = at->readers < 0 ? 0 : at->readers - 1;
  if (at->readers == 0)
    pthread_cond_broadcast(&at->free);
  pthread_mutex_unlock(&at->mutex);
}

static struct shared *make(int users) {
  struct shared *made = calloc(1, sizeof *made);
  pthread_mutex_init(&made->mutex, NULL);
  pthread_cond_init(&made->free, NULL);
  pthread_cond_init(&made->unused, NULL);
  made->users = users;
  return made;
}

static void drop(struct shared *at) {
  pthread_mutex_lock(&at->mutex);
  if (--at->users == 0)
    pthread_cond_signal(&at->unused);
  pthread_mutex_unlock(&at->mutex);
}

// Waits until nobody uses it, and takes its memory away.
static long destroy(struct shared *at) {
  pthread_mutex_lock(&at->mutex);
  while (at->users != 0)
    pthread_cond_wait(&at->unused, &at->mutex);
  pthread_mutex_unlock(&at->mutex);
  const long sum = at->cells[0];
  pthread_cond_destroy(&at->free);
  pthread_cond_destroy(&at->unused);
  pthread_mutex_destroy(&at->mutex);
  free(at);
  return sum;
}

static struct shared *all[kShared];

static void work(unsigned thread) {
  for (unsigned i = 0; i < kShared; ++i) {
    struct shared *at = all[i];
    for (long round = 0; round < kRounds / kShared; ++round)
      if ((round + thread) % 4 == 0) {
        begin_write(at);
        for (unsigned cell = 0; cell < kCells; ++cell)
          ++at->cells[cell];
        end(at);
      } else {
        begin_read(at);
        for (unsigned cell = 1; cell < kCells; ++cell)
          if (at->cells[cell] != at->cells[0])
            __atomic_fetch_add(&torn, 1, __ATOMIC_RELAXED);
        end(at);
      }
    drop(at);
  }
}

static long total;

static void work_or_collect(unsigned thread) {
  if (thread == 0)
    for (unsigned i = 0; i < kShared; ++i)
      total += destroy(all[i]);
  else
    work(thread);
}

int main(int argc, char **argv) {
  const unsigned users = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  for (unsigned i = 0; i < kShared; ++i)
    all[i] = make((int)users);
  run_in(users + 1, work_or_collect);
  long wanted = 0;
  for (unsigned thread = 1; thread <= users; ++thread)
    for (long round = 0; round < kRounds / kShared; ++round)
      wanted += (round + thread) % 4 == 0 ? kShared : 0;
  printf("total %ld, torn %ld\n", total, torn);
  return expect("total", total, wanted) + expect("torn", torn, 0);
}
