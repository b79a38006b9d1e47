/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * EXPECT for the programs of this folder, which gcc compiles with -fgnu-tm: ends the program with
 * status 1 and the place.
 */
#pragma once

#include <stdio.h>
#include <stdlib.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition);                      \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

/* A process with one thread may be run without logs; this makes it one with two. The thread lives
 * as long as the process. */
#include <pthread.h>
#include <unistd.h>

static void *check_sleep(void *argument) {
  for (;;)
    pause();
  return argument;
}

static inline void have_a_second_thread(void) {
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, check_sleep, NULL) == 0);
}
