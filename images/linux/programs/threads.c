// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// threads COUNT ROUNDS: POSIX threads that count under a mutex, with atomic additions, pass a token
// around with condition variables and meet at a barrier. Prints the counts.
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t passed = PTHREAD_COND_INITIALIZER;
static pthread_barrier_t barrier;
static long locked;
static atomic_long added;
static long holder;
static int threads;
static int rounds;

static void *work(void *argument) {
  const long self = (long)argument;
  pthread_barrier_wait(&barrier);
  for (int round = 0; round < rounds; ++round) {
    pthread_mutex_lock(&mutex);
    ++locked;
    pthread_mutex_unlock(&mutex);
    atomic_fetch_add(&added, self + 1);
  }
  for (int round = 0; round < 10; ++round) {
    pthread_mutex_lock(&mutex);
    while (holder != self)
      pthread_cond_wait(&passed, &mutex);
    holder = (holder + 1) % threads;
    pthread_cond_broadcast(&passed);
    pthread_mutex_unlock(&mutex);
  }
  pthread_barrier_wait(&barrier);
  return argument;
}

int main(int argc, char **argv) {
  threads = argc > 1 ? atoi(argv[1]) : 4;
  rounds = argc > 2 ? atoi(argv[2]) : 1000;
  if (threads < 1 || threads > 256)
    return 2;
  pthread_barrier_init(&barrier, NULL, (unsigned)threads);
  pthread_t ids[256];
  for (long i = 0; i < threads; ++i)
    if (pthread_create(&ids[i], NULL, work, (void *)i) != 0)
      return 3;
  for (long i = 0; i < threads; ++i) {
    void *result = NULL;
    if (pthread_join(ids[i], &result) != 0 || result != (void *)i)
      return 4;
  }
  const long sum = (long)threads * (threads + 1) / 2 * rounds;
  printf("%ld %ld\n", locked, atomic_load(&added));
  return locked == (long)threads * rounds && atomic_load(&added) == sum && holder == 0 ? 0 : 5;
}
