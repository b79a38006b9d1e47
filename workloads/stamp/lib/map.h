/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A hash map with chains and a fixed number of buckets. The caller brings the hash, and compares:
 *
 *     for (struct map_entry *entry = map_chain(map, hash); entry != NULL; entry = entry->next)
 *       if (entry->hash == hash && equal(entry->value, wanted)) ...
 */
#pragma once

#include "lib/section.h"

#include <stddef.h>
#include <stdint.h>

struct map_entry {
  struct map_entry *next;
  uint64_t hash;
  void *value;
};

struct map {
  struct map_entry **buckets;
  uint64_t mask; /* buckets - 1; buckets are a power of two */
};

/* Outside of sections. `buckets` is rounded up to a power of two. */
void map_initialise(struct map *map, size_t buckets);
void map_destroy(struct map *map);

/* The bucket of a hash. Its bits are mixed here: they need not be good ones. */
SAFE static inline struct map_entry **map_bucket(const struct map *map, uint64_t hash) {
  hash *= 0x9e3779b97f4a7c15u;
  return &map->buckets[(hash >> 32) & map->mask];
}

SAFE static inline struct map_entry *map_chain(const struct map *map, uint64_t hash) {
  return *map_bucket(map, hash);
}

/* Adds an entry, whether there is an equal one or not. */
SAFE void map_insert(struct map *map, uint64_t hash, void *value);
