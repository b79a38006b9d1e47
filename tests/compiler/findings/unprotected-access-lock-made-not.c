// Reported: a write before the initialisation of another record's lock; a read before the initialisation of the object's own
// lock; a field that one section writes while it creates the object, if another section writes it later.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
struct worker {
  pthread_mutex_t lock;
};
struct pool {
  pthread_mutex_t lock, later;
  long count, ready, often;
  struct worker workers[8];
};
static struct pool *pools[9];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static int make(struct pool *pool) {
  pool->often = 1;
  return pthread_mutex_init(&pool->lock, 0);
}
static void *work(void *unused) {
  for (int i = 0; i < 9; ++i) {
    struct pool *pool = pools[i];
    pthread_mutex_lock(&table);
    make(pools[i]);
    pthread_mutex_unlock(&table);
    pthread_mutex_lock(&table);
    pool->often = 5;
    pool->often = 6;
    ++pool->count;
    pool->count *= 2;
    pool->count -= 3;
    pool->ready = 7;
    pool->ready *= 2;
    pool->ready -= 3;
    pthread_mutex_unlock(&table);
    pool->often = 7;
    const long next = pool->count++;
    pthread_mutex_init(&pool->workers[next].lock, 0);
    if (!pool->ready)
      pthread_mutex_init(&pool->later, 0);
  }
  return unused;
}
int main(void) {
  pthread_t one, other;
  for (int i = 0; i < 9; ++i)
    pools[i] = calloc(1, sizeof **pools);
  pthread_create(&one, 0, work, 0);
  pthread_create(&other, 0, work, 0);
  pthread_join(one, 0);
  pthread_join(other, 0);
}
// CHECK:37: 'pools[]->often' is written here outside all sections, and written in section 'work_2'
// CHECK-NEXT:  28: written here in section 'work_2'
// CHECK-NEXT:  37: 3 of 4 accesses to it are in sections or with a lock held
// CHECK-NEXT:38: 'pools[]->count' is written here outside all sections, and written in section 'work_2'
// CHECK-NEXT:  30: written here in section 'work_2'
// CHECK-NEXT:  38: 3 of 4 accesses to it are in sections or with a lock held
// CHECK-NEXT:40: 'pools[]->ready' is read here outside all sections, and written in section 'work_2'
// CHECK-NEXT:  33: written here in section 'work_2'
// CHECK-NEXT:  40: 3 of 4 accesses to it are in sections or with a lock held
// CHECK-NEXT:3 findings
