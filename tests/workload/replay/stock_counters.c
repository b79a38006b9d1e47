/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Four threads increment counters under a lock; prints them. For a conversion of the lock.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>

enum { THREADS = 4, ROUNDS = 5000 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static uint32_t small;
static uint64_t large;

static void *work(void *unused) {
  for (int i = 0; i < ROUNDS; i++) {
    pthread_mutex_lock(&lock);
    small++;
    large += 3;
    pthread_mutex_unlock(&lock);
  }
  return unused;
}

int main(void) {
  pthread_t threads[THREADS];
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < THREADS; i++)
    pthread_join(threads[i], NULL);
  printf("%u %llu\n", small, (unsigned long long)large);
  return 0;
}
