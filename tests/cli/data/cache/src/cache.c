// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "cache.h"
#include <stdlib.h>
#include <string.h>

#define BUCKETS 64

static struct item *table[BUCKETS];
static pthread_mutex_t item_locks[BUCKETS];
static pthread_mutex_t evict_lock = PTHREAD_MUTEX_INITIALIZER;
static unsigned buckets = 16;

/* tandem: allow(unprotected-access): the number of buckets may be old */
static unsigned bucket_of(const char *key) { return (unsigned char)key[0] % buckets; }

/* With the item's lock held. */
static struct item *find(const char *key) {
  struct item *it = table[bucket_of(key)];
  while (it && strcmp(it->key, key) != 0)
    it = it->next;
  return it;
}

__attribute__((atomic)) void count_get(int hit);

struct item *cache_get(const char *key) {
  unsigned b = bucket_of(key);
  pthread_mutex_lock(&item_locks[b]);
  struct item *it = find(key);
  if (it)
    ++it->refcount;
  pthread_mutex_unlock(&item_locks[b]);
  count_get(it != NULL);
  return it;
}

__attribute__((atomic)) void count_get(int hit) {
  ++stats.gets;
  stats.hits += hit;
}

void cache_set(struct item *item) {
  unsigned b = bucket_of(item->key);
  pthread_mutex_lock(&item_locks[b]);
  item->next = table[b];
  table[b] = item;
  item->refcount = 1;
  if (item->length > 4096)
    log_line("large item", item->length);
  pthread_mutex_unlock(&item_locks[b]);
}

void cache_release(struct item *item) {
  pthread_mutex_lock(&item_locks[bucket_of(item->key)]);
  --item->refcount;
  pthread_mutex_unlock(&item_locks[bucket_of(item->key)]);
}

int cache_evict(void) {
  if (pthread_mutex_trylock(&evict_lock) != 0)
    return 0;
  for (unsigned b = 0; b < buckets; ++b) {
    struct item *it = table[b];
    if (it && it->refcount == 0) {
      table[b] = it->next;
      free(it);
      ++stats.evictions;
      pthread_mutex_unlock(&evict_lock);
      return 1;
    }
  }
  pthread_mutex_unlock(&evict_lock);
  return 0;
}

__attribute__((atomic)) void cache_grow(void) {
  if (buckets < BUCKETS)
    buckets *= 2;
}
