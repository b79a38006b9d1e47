/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include "contents.h"
#include "options.h"
#include "stream.h"

#include <pthread.h>

/* What all threads of all processes share, but for the store. */
struct replay {
  const struct options *options;
  const struct stream *stream;
  struct store *store;
  uint32_t workers;   /* threads of all processes */
  const char *filler; /* bodies of runs that do not check */
  pthread_barrier_t *start;
};

/* One thread's work; in memory that processes share. */
struct work {
  uint32_t number;      /* of the thread, below replay.workers */
  uint32_t incarnation; /* how often its process was killed before */
  uint64_t operations, hits, stores, compared;
  double begin_s, end_s; /* of the clock that all share */
  char wrong[160];       /* empty: nothing */
};

/* Runs it; sets `work`. */
void worker_run(const struct replay *replay, struct work *work);
