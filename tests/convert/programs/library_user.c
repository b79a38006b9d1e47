// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Uses library.c from several threads.
#include "library.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kEach = 20000, kMostThreads = 16 };

static struct tally *shared;

static void *work(void *unused) {
  for (int i = 0; i < kEach; ++i)
    tally_add(shared, 1);
  tally_new();
  return unused;
}

int main(int count, char **arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 1;
  if (threads < 1 || threads > kMostThreads)
    return 2;
  shared = tally_new();
  pthread_t handles[kMostThreads];
  for (int i = 0; i < threads; ++i)
    if (pthread_create(&handles[i], NULL, work, NULL) != 0)
      return 1;
  tally_wait(shared, (long)threads * kEach);
  for (int i = 0; i < threads; ++i)
    pthread_join(handles[i], NULL);
  if (tally_all() != threads + 1)
    printf("%ld made\n", tally_all());
  return tally_all() != threads + 1;
}
