// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cache.h"
#include <stdio.h>
#include <stdlib.h>

struct stats stats;
volatile int verbose;

static pthread_mutex_t queue_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t queue_filled = PTHREAD_COND_INITIALIZER;
static pthread_mutex_t log_lock = PTHREAD_MUTEX_INITIALIZER;
static int jobs[128];
static int head, tail;

void queue_push(int job) {
  pthread_mutex_lock(&queue_lock);
  jobs[tail++ % 128] = job;
  pthread_cond_signal(&queue_filled);
  pthread_mutex_unlock(&queue_lock);
}

int queue_pop(void) {
  pthread_mutex_lock(&queue_lock);
  while (head == tail)
    pthread_cond_wait(&queue_filled, &queue_lock);
  int job = jobs[head++ % 128];
  pthread_mutex_unlock(&queue_lock);
  return job;
}

void log_line(const char *text, unsigned long value) {
  pthread_mutex_lock(&log_lock);
  fprintf(stderr, "%s: %lu\n", text, value);
  pthread_mutex_unlock(&log_lock);
}

__attribute__((atomic)) void stats_print(void) {
  log_line("gets", stats.gets);
  log_line("hits", stats.hits);
}

__attribute__((atomic)) void stats_reset(void) { stats = (struct stats){0}; }

static void *worker(void *unused) {
  for (int job; (job = queue_pop()) != 0;) {
    struct item *it = cache_get("key");
    if (it)
      cache_release(it);
    else
      cache_set(calloc(1, sizeof *it));
    // tandem: allow(volatile-reread): any value will do
    if (verbose > 1)
      log_line("job", (unsigned long)job);
    else if (verbose == 1)
      stats_print();
  }
  return unused;
}

int main(void) {
  pthread_t threads[4];
  for (int i = 0; i < 4; ++i)
    pthread_create(&threads[i], NULL, worker, NULL);
  for (int job = 1; job < 1000; ++job) {
    queue_push(job);
    if (job % 100 == 0)
      cache_grow();
    if (job % 500 == 0)
      stats_reset();
    while (cache_evict())
      ;
  }
  verbose = 0;
  for (int i = 0; i < 4; ++i)
    queue_push(0);
  for (int i = 0; i < 4; ++i)
    pthread_join(threads[i], NULL);
  return stats.gets == 0;
}
