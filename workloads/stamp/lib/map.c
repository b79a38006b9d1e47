/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/map.h"

#include "lib/memory.h"

#include <stdlib.h>

void map_initialise(struct map *map, size_t buckets) {
  size_t count = 1;
  while (count < buckets)
    count *= 2;
  *map = (struct map){allocate_table(count, sizeof(struct map_entry *)), count - 1};
}

void map_destroy(struct map *map) {
  for (uint64_t i = 0; i <= map->mask; i++)
    for (struct map_entry *entry = map->buckets[i], *next; entry != NULL; entry = next) {
      next = entry->next;
      free(entry);
    }
  free(map->buckets);
  *map = (struct map){NULL, 0};
}

SAFE void map_insert(struct map *map, uint64_t hash, void *value) {
  struct map_entry **bucket = map_bucket(map, hash);
  struct map_entry *made = allocate(sizeof *made);
  made->next = *bucket;
  made->hash = hash;
  made->value = value;
  *bucket = made;
}
