// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
/* An item cache with statistics and a queue of jobs: what the examples of the report are about. */
#include <pthread.h>
#include <stddef.h>

struct item {
  struct item *next;
  int refcount;
  size_t length;
  char key[32];
};

struct stats {
  unsigned long gets, hits, sets, evictions;
};

struct item *cache_get(const char *key);
void cache_set(struct item *item);
void cache_release(struct item *item);
int cache_evict(void);
void cache_grow(void);

void queue_push(int job);
int queue_pop(void);

void stats_print(void);
void stats_reset(void);
void log_line(const char *text, unsigned long value);

extern struct stats stats;
extern volatile int verbose;
