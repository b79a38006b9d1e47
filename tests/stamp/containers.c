/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The containers of workloads/stamp/lib beside slow, obvious ones, over random calls.
 */
#include "lib/bitmap.h"
#include "lib/heap.h"
#include "lib/list.h"
#include "lib/map.h"
#include "lib/queue.h"
#include "lib/random.h"
#include "lib/tree.h"
#include "lib/vector.h"

#include <stdio.h>
#include <stdlib.h>

enum { KEYS = 200, CALLS = 20000 };

#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static int values[CALLS];

static void count_in_order(uint64_t key, void *value, void *context) {
  uint64_t *next = context;
  (void)value;
  CHECK(key >= *next);
  *next = key + 1;
}

static void check_tree_and_list(struct random *random) {
  struct tree tree = {NULL};
  struct list list = {NULL};
  void *there[KEYS] = {NULL};
  for (int i = 0; i < CALLS; i++) {
    const uint64_t key = random_below(random, KEYS);
    void *value = &values[i];
    if (random_below(random, 2)) {
      CHECK(tree_insert(&tree, key, value) == (there[key] == NULL));
      CHECK(list_insert(&list, key, value) == (there[key] == NULL));
      there[key] = there[key] == NULL ? value : there[key];
    } else {
      CHECK(tree_erase(&tree, key) == there[key]);
      CHECK(list_erase(&list, key) == there[key]);
      there[key] = NULL;
    }
    CHECK(tree_sound(&tree));
    const uint64_t other = random_below(random, KEYS);
    CHECK(tree_find(&tree, other) == there[other]);
    CHECK(list_find(&list, other) == there[other]);
  }
  uint64_t next = 0;
  tree_visit(&tree, count_in_order, &next);
  list_clear(&list);
  CHECK(list.first == NULL);
}

static void check_queue_and_vector(struct random *random) {
  struct queue queue;
  struct vector vector;
  queue_initialise(&queue, 1);
  vector_initialise(&vector, 1);
  size_t begin = 0;
  size_t end = 0;
  for (int i = 0; i < CALLS; i++) {
    if (random_below(random, 100) < 52) {
      queue_push(&queue, &values[end++]);
      vector_push(&vector, &values[i]);
      CHECK(vector.elements[vector.size - 1] == &values[i]);
    } else {
      CHECK(queue_pop(&queue) == (begin == end ? NULL : (void *)&values[begin]));
      begin += begin != end;
    }
  }
  CHECK(vector.size == end);
  queue_destroy(&queue);
  vector_destroy(&vector);
}

static void check_heap(struct random *random) {
  struct heap heap;
  int counts[KEYS] = {0};
  heap_initialise(&heap, 1);
  for (int i = 0; i < CALLS; i++) {
    if (random_below(random, 100) < 55) {
      const uint64_t priority = random_below(random, KEYS);
      counts[priority]++;
      heap_push(&heap, priority, &values[priority]);
      continue;
    }
    int highest = KEYS - 1;
    while (highest >= 0 && counts[highest] == 0)
      highest--;
    CHECK(heap_pop(&heap) == (highest < 0 ? NULL : (void *)&values[highest]));
    if (highest >= 0)
      counts[highest]--;
  }
  heap_destroy(&heap);
}

static void check_map_and_bitmap(struct random *random) {
  struct map map;
  struct bitmap bitmap;
  int counts[KEYS] = {0};
  map_initialise(&map, 50);
  CHECK(map.mask == 63);
  bitmap_initialise(&bitmap, KEYS);
  for (int i = 0; i < CALLS / 10; i++) {
    const uint64_t hash = random_below(random, KEYS);
    CHECK(bitmap_has(&bitmap, hash) == (counts[hash] != 0));
    CHECK(bitmap_set(&bitmap, hash) == (counts[hash] == 0));
    map_insert(&map, hash, &values[hash]);
    counts[hash]++;
    int found = 0;
    for (struct map_entry *entry = map_chain(&map, hash); entry != NULL; entry = entry->next)
      found += entry->hash == hash && entry->value == &values[hash];
    CHECK(found == counts[hash]);
  }
  bitmap_clear(&bitmap);
  for (int i = 0; i < KEYS; i++)
    CHECK(!bitmap_has(&bitmap, i));
  map_destroy(&map);
  free(bitmap.words);
}

int main(void) {
  for (uint64_t seed = 1; seed <= 3; seed++) {
    struct random random = random_stream(seed, 0);
    check_tree_and_list(&random);
    check_queue_and_vector(&random);
    check_heap(&random);
    check_map_and_bitmap(&random);
  }
  return 0;
}
