// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Acquisitions whose result is looked at: the way on which one has failed releases nothing, and
// needs not. Locks whose address a function computes, and clean-ups that release them.
#include "threads.h"

#include <stdbool.h>
#include <stdlib.h>

struct node {
  pthread_mutex_t lock;
  long count;
};
static struct node nodes[4];
static pthread_mutex_t truth, number, answer, cleaned;
static long counts[4];

static bool truly(void) { return pthread_mutex_lock(&truth) == 0; }
static int minus_or_zero(void) { return pthread_mutex_lock(&number) ? -1 : 0; }
static pthread_mutex_t *lock_of(int i) { return &nodes[i & 3].lock; }
static void unlock_at(pthread_mutex_t **at) {
  if (*at != 0)
    pthread_mutex_unlock(*at);
}

static int count(void) {
  if (!truly())
    return 1;
  ++counts[0];
  if (pthread_mutex_unlock(&truth))
    return 1;
  if (minus_or_zero() < 0)
    return 1;
  ++counts[1];
  pthread_mutex_unlock(&number);
  int result = pthread_mutex_lock(&answer);
  if (result != 0)
    goto out;
  ++counts[2];
  result = pthread_mutex_unlock(&answer);
out:
  return result;
}

static int clean(int i) {
  pthread_mutex_lock(&cleaned);
  pthread_mutex_t *guard __attribute__((cleanup(unlock_at))) = &cleaned;
  ++counts[3];
  if (i % 3 == 0)
    return 0;
  return 0;
}

static void work(unsigned thread) {
  (void)thread;
  for (int i = 0; i < kRounds; ++i) {
    if (count() || clean(i))
      abort();
    pthread_mutex_lock(&nodes[i & 3].lock);
    ++nodes[i & 3].count;
    pthread_mutex_unlock(lock_of(i));
  }
}

int main(int argc, char **argv) {
  const long wanted = run(argc, argv, work) * (long)kRounds;
  int wrong =
      expect("nodes", nodes[0].count + nodes[1].count + nodes[2].count + nodes[3].count, wanted);
  for (int i = 0; i < 4; ++i)
    wrong += expect("count", counts[i], wanted);
  return wrong;
}
