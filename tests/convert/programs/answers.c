// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Acquisitions whose result is looked at: the way on which one has failed releases nothing, and
// needs not. Locks whose address a function computes, and clean-ups that release them. Results
// whose variable is written through its address, and of wrappers that answer something else.
#include "threads.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

struct node {
  pthread_mutex_t lock;
  long count;
};
static struct node nodes[4];
static pthread_mutex_t truth, number, answer, cleaned, written, tried, copied, negative;
static long counts[4], other[4], rest[4];
static int state;

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

__attribute__((noinline)) static void change(int *result, int i) {
  if (i % 3 == 0)
    *result = 5;
}
static void count_written(int i) {
  int result = pthread_mutex_lock(&written);
  if (result)
    abort();
  change(&result, i);
  if (result) {
    ++other[0];
    pthread_mutex_unlock(&written);
    return;
  }
  ++rest[0];
  pthread_mutex_unlock(&written);
}

static void count_tried(int i) {
  const int now = i % 3 == 0;
  int result;
  do
    result = pthread_mutex_trylock(&tried);
  while (result != 0);
  memcpy(&result, &now, sizeof result);
  if (result) {
    ++other[1];
    pthread_mutex_unlock(&tried);
    return;
  }
  ++rest[1];
  pthread_mutex_unlock(&tried);
}

static int begin_copied(void) {
  int result = 0;
  pthread_mutex_lock(&copied);
  memcpy(&result, &state, sizeof result);
  return result;
}
static void count_copied(void) {
  if (begin_copied()) {
    ++other[2];
    state = 0;
    pthread_mutex_unlock(&copied);
    return;
  }
  ++rest[2];
  state = 1;
  pthread_mutex_unlock(&copied);
}

static int begin_negative(void) {
  pthread_mutex_lock(&negative);
  return -1;
}
static void count_negative(void) {
  if (begin_negative() > 0) {
    ++other[3];
    pthread_mutex_unlock(&negative);
    return;
  }
  ++rest[3];
  pthread_mutex_unlock(&negative);
}

static void work(unsigned thread) {
  (void)thread;
  for (int i = 0; i < kRounds; ++i) {
    if (count() || clean(i))
      abort();
    count_written(i);
    count_tried(i);
    count_copied();
    count_negative();
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
  const long thirds = wanted / kRounds * ((kRounds + 2) / 3);
  const long others[] = {thirds, thirds, wanted / 2, 0};
  for (int i = 0; i < 4; ++i)
    wrong += expect("other", other[i], others[i]) + expect("rest", rest[i], wanted - others[i]);
  return wrong;
}
