// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Counts the letters of a file in several threads, and prints how often each is there.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kBlock = 4096, kMostThreads = 64 };

static pthread_mutex_t input_lock = PTHREAD_MUTEX_INITIALIZER;
static FILE *input;
static pthread_mutex_t counts_lock = PTHREAD_MUTEX_INITIALIZER;
static long counts[256];
static pthread_mutex_t done_lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t done_changed = PTHREAD_COND_INITIALIZER;
static int done;

static void enter(pthread_mutex_t *lock) {
  int error = pthread_mutex_lock(lock);
  if (error != 0) {
    fprintf(stderr, "tally: cannot lock: %d\n", error);
    exit(1);
  }
}

static void enter_soon(pthread_mutex_t *lock) {
  while (pthread_mutex_trylock(lock) != 0)
    ;
}

static void *work(void *unused) {
  unsigned char block[kBlock];
  for (;;) {
    enter(&input_lock);
    size_t got = fread(block, 1, kBlock, input);
    pthread_mutex_unlock(&input_lock);
    if (got == 0)
      break;
    enter_soon(&counts_lock);
    for (size_t i = 0; i < got; ++i)
      ++counts[block[i]];
    pthread_mutex_unlock(&counts_lock);
  }
  enter(&done_lock);
  ++done;
  pthread_cond_signal(&done_changed);
  pthread_mutex_unlock(&done_lock);
  return unused;
}

int main(int argc, char **argv) {
  int threads = argc > 2 ? atoi(argv[1]) : 0;
  if (threads < 1 || threads > kMostThreads || (input = fopen(argv[2], "rb")) == NULL)
    return 2;
  pthread_t handles[kMostThreads];
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&handles[i], NULL, work, NULL) != 0)
      return 1;
  enter(&done_lock);
  while (done < threads)
    pthread_cond_wait(&done_changed, &done_lock);
  pthread_mutex_unlock(&done_lock);
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  for (int i = 0; i < 256; ++i)
    if (counts[i] > 0)
      printf("%d %ld\n", i, counts[i]);
  return 0;
}
