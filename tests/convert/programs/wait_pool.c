// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A pool of threads: a list of jobs, workers that wait for one, and those who wait until all are
// done. It is stopped by an atomic flag that is set outside of the lock, as some programs do; made
// and destroyed several times, so that its conditions come and go at one address.
#include "threads.h"

#include <stdatomic.h>
#include <stdbool.h>

enum { kPools = 5, kJobs = 400 };
struct job {
  struct job *next;
  void (*run)(struct job *);
  long number, *into;
};
struct pool {
  pthread_mutex_t lock;
  pthread_cond_t has_work, is_idle;
  struct job *first, **end;
  unsigned pending;
  long busy_looks;
  atomic_bool stopped;
};

static struct job *next_job(struct pool *pool) {
  struct job *job = NULL;
  pthread_mutex_lock(&pool->lock);
  for (;;) {
    if ((job = pool->first) != NULL)
      break;
    if (atomic_load(&pool->stopped)) {
      pthread_mutex_unlock(&pool->lock);
      return NULL;
    }
    pthread_cond_wait(&pool->has_work, &pool->lock);
  }
  pool->first = job->next;
  if (pool->first == NULL)
    pool->end = &pool->first;
  pthread_mutex_unlock(&pool->lock);
  return job;
}

static void *worker(void *given) {
  struct pool *pool = given;
  for (struct job *job; (job = next_job(pool)) != NULL;) {
    job->run(job);
    free(job);
    pthread_mutex_lock(&pool->lock);
    if (--pool->pending == 0)
      pthread_cond_broadcast(&pool->is_idle);
    pthread_mutex_unlock(&pool->lock);
  }
  return NULL;
}

static void submit(struct pool *pool, void (*run)(struct job *), long number, long *into) {
  struct job *job = malloc(sizeof *job);
  *job = (struct job){NULL, run, number, into};
  pthread_mutex_lock(&pool->lock);
  *pool->end = job;
  pool->end = &job->next;
  ++pool->pending;
  pthread_cond_signal(&pool->has_work);
  pthread_mutex_unlock(&pool->lock);
}

// Waits in what a trylock has begun, if it has.
static bool wait_until_idle(struct pool *pool) {
  if (pthread_mutex_trylock(&pool->lock) != 0)
    return false;
  ++pool->busy_looks;
  while (pool->pending != 0)
    pthread_cond_wait(&pool->is_idle, &pool->lock);
  pthread_mutex_unlock(&pool->lock);
  return true;
}

static void add(struct job *job) { __atomic_fetch_add(job->into, job->number, __ATOMIC_RELAXED); }

static long use(struct pool *pool, unsigned threads) {
  long sum = 0;
  pthread_t all[64];
  *pool = (struct pool){0};
  pthread_mutex_init(&pool->lock, NULL);
  pthread_cond_init(&pool->has_work, NULL);
  pthread_cond_init(&pool->is_idle, NULL);
  pool->end = &pool->first;
  for (unsigned i = 0; i < threads; ++i)
    pthread_create(&all[i], NULL, worker, pool);
  for (long i = 1; i <= kJobs; ++i) {
    submit(pool, add, i, &sum);
    if (i % 100 == 0)
      while (!wait_until_idle(pool)) {
      }
  }
  while (!wait_until_idle(pool)) {
  }
  atomic_store(&pool->stopped, true);
  pthread_mutex_lock(&pool->lock);
  pthread_mutex_unlock(&pool->lock);
  pthread_cond_broadcast(&pool->has_work);
  for (unsigned i = 0; i < threads; ++i)
    pthread_join(all[i], NULL);
  pthread_cond_destroy(&pool->is_idle);
  pthread_cond_destroy(&pool->has_work);
  pthread_mutex_destroy(&pool->lock);
  return sum;
}

int main(int argc, char **argv) {
  const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  struct pool *pool = malloc(sizeof *pool);
  int wrong = 0;
  for (int i = 0; i < kPools; ++i) {
    const long sum = use(pool, threads);
    printf("%d: %ld\n", i, sum);
    wrong += expect("sum", sum, (long)kJobs * (kJobs + 1) / 2);
  }
  free(pool);
  return wrong;
}
