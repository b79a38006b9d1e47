// No evidence: into an object of which the function makes or destroys a lock, or that it hands to a thread next; by a
// pointer that was loaded in a section behind a wait for a condition; in an alternative without threads; behind a loop
// of joins, chosen by a pointer, up to another variable. What is touched in none of these ways is found, such as the
// waiting thread's own object (unprotected-access-not-owned.c has more).
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
struct pool;
struct item {
  long value;
};
struct worker {
  pthread_t thread;
  struct pool *pool;
  long rounds;
};
struct pool {
  pthread_mutex_t lock;
  pthread_cond_t idle;
  struct worker *workers;
  struct item *last;
  unsigned wanted, made;
  long busy, sum, seen, best;
};
static void (*start)(struct pool *), (*step)(struct pool *), (*stop)(struct pool *);
static void make_lock(pthread_mutex_t *lock) {
  if (pthread_mutex_init(lock, 0) != 0)
    abort();
}
static void make(struct pool *pool, unsigned wanted) {
  make_lock(&pool->lock);
  pthread_cond_init(&pool->idle, 0);
  pool->wanted = wanted;
  pool->busy = 0;
}
static void destroy(struct pool *pool) {
  pool->busy = -1;
  pthread_mutex_destroy(&pool->lock);
}
static void *work(void *given) {
  struct worker *self = given;
  struct pool *pool = self->pool;
  for (int i = 0; i < 9; ++i) {
    pthread_mutex_lock(&pool->lock);
    ++self->rounds;
    ++pool->busy;
    ++pool->sum;
    ++pool->best;
    ++pool->seen;
    ++pool->last->value;
    pthread_cond_signal(&pool->idle);
    pthread_mutex_unlock(&pool->lock);
  }
  ++pool->seen; // here
  return 0;
}
static void start_threads(struct pool *pool) {
  pool->made = pool->wanted;
  for (unsigned i = 0; i < pool->made; ++i) {
    struct worker *worker = &pool->workers[i];
    worker->pool = pool;
    worker->rounds = 0;
    pthread_create(&worker->thread, 0, work, worker);
  }
}
static void stop_threads(struct pool *pool) {
  for (unsigned i = 0; i < pool->wanted; ++i) {
    struct worker *worker = &pool->workers[i];
    pthread_join(worker->thread, 0);
  }
}
static void step_threads(struct pool *pool) {
  pthread_mutex_lock(&pool->lock);
  while (pool->busy != 9)
    pthread_cond_wait(&pool->idle, &pool->lock);
  struct item *item = pool->last;
  pthread_mutex_unlock(&pool->lock);
  ++item->value;
  ++pool->best; // and here
}
static void start_alone(struct pool *pool) { pool->made = 0; }
static void step_alone(struct pool *pool) { ++pool->busy; }
static void stop_alone(struct pool *pool) { pool->made = 0; }
int main(int count, char **arguments) {
  struct pool *pool = calloc(1, sizeof *pool);
  make(pool, (unsigned)count);
  pool->workers = calloc((unsigned)count, sizeof *pool->workers);
  pool->last = calloc(1, sizeof *pool->last);
  if (count > 1) {
    start = start_threads;
    step = step_threads;
    stop = stop_threads;
  } else {
    start = start_alone;
    step = step_alone;
    stop = stop_alone;
  }
  for (int i = 0; i < 3; ++i) {
    start(pool);
    step(pool);
    stop(pool);
    pool->sum = 0;
  }
  destroy(pool);
  return arguments == 0;
}
// CHECK:55: 'pool->seen' is written here outside all sections, and written in section 'work_1'
// CHECK-NEXT:  50: written here in section 'work_1'
// CHECK:80: 'pool->best' is written here outside all sections, and written in section 'work_1'
// CHECK:2 findings
