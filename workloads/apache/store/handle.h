/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * One process's view of a store, and its memory.
 */
#pragma once

#include "shared.h"

/* Counted outside of sections, by several threads each, on cache lines of their own. */
struct stripe {
  _Alignas(64) uint64_t hits, misses, commits, replacements, evictions, removals, refusals;
  uint64_t charged; /* a difference, modulo 2^64: only the sum of all stripes means something */
};
enum { kStripes = 16 };

struct store {
  struct core *core;
  struct shared *shared; /* null: of one process */
  int process;           /* its slot; -1 before store_join */
  struct stripe *stripes;
  uint64_t seed; /* of the hash */
  void *mapping; /* of a shared one */
  size_t mapping_bytes;
};

uint32_t store_hash(const struct store *store, const char *key, size_t key_bytes);

/* Memory that is charged already; a shared store is entered. */
void *memory_take(struct store *store, size_t bytes);
void memory_give(struct store *store, void *memory);
/* The block keeps `bytes`; where it is then. */
void *memory_shrink(struct store *store, void *memory, size_t bytes);
/* Frees `dead`, which are forgotten. */
void memory_bury(struct store *store, struct store_object *dead);
/* Settles, frees who nobody holds, and counts; a shared store is entered. */
void store_settle(struct store *store, const struct after *after);
/* Only sums are made of counters: no order is needed. */
static inline void memory_count(uint64_t *counter, uint64_t by) {
  __atomic_fetch_add(counter, by, __ATOMIC_RELAXED);
}
/* The stripe of the calling thread. */
struct stripe *memory_stripe(struct store *store);
