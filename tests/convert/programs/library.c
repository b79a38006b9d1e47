// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A shared library's locks: one of its own, one in each record that its callers have.
#include "library.h"

#include <pthread.h>
#include <stdlib.h>

struct tally {
  pthread_mutex_t lock;
  pthread_cond_t changed;
  long count;
};

static pthread_mutex_t all = PTHREAD_MUTEX_INITIALIZER;
static long made;

struct tally *tally_new(void) {
  struct tally *tally = calloc(1, sizeof *tally);
  if (tally == NULL)
    abort();
  pthread_mutex_init(&tally->lock, NULL);
  pthread_cond_init(&tally->changed, NULL);
  pthread_mutex_lock(&all);
  ++made;
  pthread_mutex_unlock(&all);
  return tally;
}

void tally_add(struct tally *tally, long more) {
  pthread_mutex_lock(&tally->lock);
  tally->count += more;
  pthread_cond_broadcast(&tally->changed);
  pthread_mutex_unlock(&tally->lock);
}

void tally_wait(struct tally *tally, long wanted) {
  pthread_mutex_lock(&tally->lock);
  while (tally->count < wanted)
    pthread_cond_wait(&tally->changed, &tally->lock);
  pthread_mutex_unlock(&tally->lock);
}

long tally_all(void) {
  pthread_mutex_lock(&all);
  const long count = made;
  pthread_mutex_unlock(&all);
  return count;
}
