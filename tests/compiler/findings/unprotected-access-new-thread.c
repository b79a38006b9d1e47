// No evidence: an element that is handed to the thread created next, beside threads that touch their own elements
// only. One that goes through all elements may meet the new thread's.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s
#include <pthread.h>
#include <stdlib.h>
struct pool;
struct worker {
  pthread_t thread;
  struct pool *pool;
  unsigned index, rounds;
};
struct pool {
  pthread_mutex_t lock;
  struct worker *workers;
  unsigned readers, writers;
};
static void step(struct worker *self) {
  pthread_mutex_lock(&self->pool->lock);
  ++self->index;
  pthread_mutex_unlock(&self->pool->lock);
}
static void look(struct pool *pool) {
  pthread_mutex_lock(&pool->lock);
  for (unsigned i = 0; i < pool->writers; ++i)
    ++pool->workers[i].rounds;
  pthread_mutex_unlock(&pool->lock);
}
static void *read_all(void *given) {
  struct worker *self = given;
  step(self);
  look(self->pool);
  return 0;
}
static void *write_all(void *unused) { return unused; }
static void start(struct pool *pool) {
  struct worker *writers = pool->workers + pool->readers;
  for (unsigned i = 0; i < pool->readers; ++i) {
    struct worker *worker = &pool->workers[i];
    pthread_create(&worker->thread, 0, read_all, worker);
  }
  for (unsigned i = 0; i < pool->writers; ++i) {
    struct worker *worker = &writers[i];
    worker->index = 9;
    worker->rounds = 0; // CHECK: {{^}}[[#@LINE]]: '{{.*}}rounds' is written here outside all sections
    pthread_create(&worker->thread, 0, write_all, worker);
  }
}
int main(int argc, char **argv) {
  struct pool *pool = calloc(1, sizeof *pool);
  pthread_mutex_init(&pool->lock, 0);
  pool->readers = (unsigned)argc;
  pool->writers = (unsigned)argc + 1;
  pool->workers = calloc(pool->readers + pool->writers, sizeof *pool->workers);
  for (unsigned i = 0; i < pool->readers + pool->writers; ++i)
    pool->workers[i].pool = pool;
  start(pool);
  return argv == 0;
}
// CHECK: {{^}}1 findings
