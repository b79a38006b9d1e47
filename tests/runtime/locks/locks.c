/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Acquires locks of all kinds, so many times that a profile of them is known. Contention is
 * arranged: a thread holds the lock until another one waits for it.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <threads.h>
#include <time.h>
#include <unistd.h>

enum { HEAP = 3, TIMES = 10 };

static pthread_mutex_t contended = PTHREAD_MUTEX_INITIALIZER;
static pthread_mutex_t waited = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t condition = PTHREAD_COND_INITIALIZER;
static pthread_rwlock_t readers = PTHREAD_RWLOCK_INITIALIZER;
static pthread_spinlock_t spinning;
static mtx_t standard;
static pthread_barrier_t barrier;
static int ready;

static void *other(void *unused) {
  pthread_barrier_wait(&barrier);
  if (pthread_mutex_trylock(&contended) == 0) /* refused */
    abort();
  pthread_mutex_lock(&contended); /* contended */
  pthread_mutex_unlock(&contended);
  pthread_mutex_lock(&waited);
  ready = 1;
  pthread_cond_signal(&condition);
  pthread_mutex_unlock(&waited);
  return unused;
}

static void hold(long ms) {
  const struct timespec time = {.tv_nsec = ms * 1000000};
  nanosleep(&time, NULL);
}

int main(int argc, char **argv) {
  pthread_mutex_t *heap = calloc(HEAP, sizeof *heap);
  for (int i = 0; i < HEAP; i++)
    pthread_mutex_init(&heap[i], NULL); /* initialised */
  pthread_spin_init(&spinning, PTHREAD_PROCESS_PRIVATE);
  mtx_init(&standard, mtx_plain);
  pthread_barrier_init(&barrier, NULL, 2);
  pthread_t thread;
  pthread_create(&thread, NULL, other, NULL);
  pthread_mutex_lock(&contended); /* held */
  pthread_barrier_wait(&barrier);
  while (__atomic_load_n(&contended.__data.__lock, __ATOMIC_RELAXED) != 2)
    hold(1); /* glibc: 2 as soon as somebody waits */
  hold(50);
  pthread_mutex_unlock(&contended);
  pthread_mutex_lock(&waited); /* waits */
  while (!ready)
    pthread_cond_wait(&condition, &waited);
  pthread_mutex_unlock(&waited);
  pthread_join(thread, NULL);
  for (int i = 0; i < TIMES; i++) {
    for (int j = 0; j < HEAP; j++)
      pthread_mutex_lock(&heap[j]); /* heap */
    for (int j = 0; j < HEAP; j++)
      pthread_mutex_unlock(&heap[j]); /* not in the opposite order */
    pthread_rwlock_rdlock(&readers);
    pthread_rwlock_unlock(&readers);
    pthread_spin_lock(&spinning);
    pthread_spin_unlock(&spinning);
    mtx_lock(&standard);
    mtx_unlock(&standard);
  }
  pthread_rwlock_wrlock(&readers);
  pthread_rwlock_unlock(&readers);
  if (argc > 1 && strcmp(argv[1], "kill") == 0)
    raise(SIGKILL);
  if (argc > 1 && fork() == 0) {
    pthread_mutex_lock(&contended);
    pthread_mutex_unlock(&contended);
  }
  return 0;
}
