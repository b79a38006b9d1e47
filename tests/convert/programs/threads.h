// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What the programs of this folder share: threads that start together, and a check.
#pragma once

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { kRounds = 2000 };

static void (*work_of_threads)(unsigned thread);

static void *start_thread(void *number) {
  work_of_threads((unsigned)(unsigned long)number);
  return NULL;
}

// Runs `work` in `threads` threads, numbered from 0.
static void run_in(unsigned threads, void (*work)(unsigned thread)) {
  pthread_t *all = (pthread_t *)calloc(threads, sizeof *all);
  work_of_threads = work;
  for (unsigned i = 0; i < threads; ++i)
    pthread_create(&all[i], NULL, start_thread, (void *)(unsigned long)i);
  for (unsigned i = 0; i < threads; ++i)
    pthread_join(all[i], NULL);
  free(all);
}

// Runs `work` in as many threads as the first argument says. Result: how many.
static inline unsigned run(int argc, char **argv, void (*work)(unsigned thread)) {
  const unsigned threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  run_in(threads, work);
  return threads;
}

// 0 where the two are equal; else 1, and says so.
static int expect(const char *what, long found, long wanted) {
  if (found == wanted)
    return 0;
  printf("%s: %ld, not %ld\n", what, found, wanted);
  return 1;
}
