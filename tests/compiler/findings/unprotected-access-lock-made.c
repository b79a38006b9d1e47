// A write to an object before its function initialises the object's lock is not reported, even if another thread could already
// find the object. An access elsewhere without the lock is reported.
// RUN: %cc %s | env TANDEM_ENFORCE=none %tandem > %t.ll
// RUN: %python %S/print.py %t.json unprotected-access | %FileCheck %s --match-full-lines --strict-whitespace
#include <pthread.h>
#include <stdlib.h>
struct list {
  pthread_mutex_t lock;
  long size, most, sum, late;
  void **items;
};
struct pool {
  struct list done;
  pthread_t thread;
};
static struct pool *pools[2];
static int make(struct list *list, long most) {
  list->most = most;
  list->size = 0;
  list->items = calloc((size_t)most, sizeof(void *));
  if (list->items == 0)
    return -1;
  if (pthread_mutex_init(&list->lock, 0))
    return -1;
  list->sum = most;
  return 0;
}
static void *work(void *given) {
  for (long i = 0; i <= (long)given; ++i) {
    struct list *list = &pools[i]->done;
    pthread_mutex_lock(&list->lock);
    if (list->size < list->most)
      ++list->size;
    list->size ^= 1;
    list->size |= 2;
    list->sum += 1;
    list->sum *= 2;
    list->sum -= 3;
    ++list->late;
    pthread_mutex_unlock(&list->lock);
    ++list->late; // here
  }
  return 0;
}
static int start(struct pool **made, long number) {
  struct pool *pool = calloc(1, sizeof *pool);
  *made = pool;
  if (pool == 0 || make(&pool->done, 9))
    return 1;
  return pthread_create(&pool->thread, 0, work, (void *)number);
}
int main(void) {
  if (start(&pools[0], 0) || start(&pools[1], 1))
    return 1;
  pthread_join(pools[0]->thread, 0);
  pthread_join(pools[1]->thread, 0);
}
// CHECK:41: 'pools[]->done.late' is written here outside all sections, and written in section 'work_1'
// CHECK-NEXT:  39: written here in section 'work_1'
// CHECK-NEXT:1 findings
