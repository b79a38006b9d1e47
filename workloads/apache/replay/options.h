/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#pragma once

#include "../store/store.h"

struct options {
  struct store_settings store;
  uint32_t threads, processes, keys;
  uint64_t operations; /* of each thread */
  uint64_t warm_up;    /* operations of each thread that are not measured, before these */
  double s;            /* of Zipf's law */
  uint64_t seed;
  const char *stream; /* a file of keys; null: Zipf's law */
  bool check;         /* contents; else only heads are read */
  uint32_t changes;   /* of 1000 hits by a key's owner: refreshed, replaced or removed */
  uint32_t kills;     /* processes that are killed while they run */
};

/* Ends the process with one line and status 2 where they are wrong, with status 0 for --help. */
struct options options_read(int count, char **words);
