// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// One lock under two names: a record's field, and that of an element of a variable.
#include "threads.h"

struct worker {
  long count;
  pthread_mutex_t mutex;
};
static struct worker *workers;

static void add(struct worker *worker) {
  pthread_mutex_lock(&worker->mutex);
  worker->count += 1;
  pthread_mutex_unlock(&worker->mutex);
}

static void work(unsigned thread) {
  for (long i = 0; i < kRounds; ++i) {
    const unsigned at = (thread + (unsigned)i) % 2;
    add(&workers[at]);
    pthread_mutex_lock(&workers[at].mutex);
    workers[at].count += 1;
    pthread_mutex_unlock(&workers[at].mutex);
  }
}

int main(int argc, char **argv) {
  workers = calloc(2, sizeof *workers);
  const unsigned threads = run(argc, argv, work);
  return expect("count", workers[0].count + workers[1].count, 2 * kRounds * threads);
}
