/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "ssca2/edges.h"

#include "lib/memory.h"
#include "lib/random.h"

#include <stdbool.h>
#include <stdlib.h>

enum {
  LARGEST_CLIQUE = 8,
  LARGEST_WEIGHT = 255,
  MOST_PARALLEL = 3, /* edges from one vertex to another */
  PERCENT_ONE_WAY = 20,
};

/* Edges grow; their vertices are still in the order of the cliques. */
struct maker {
  struct edge *all;
  uint64_t count, capacity;
  struct random random;
};

static void add(struct maker *maker, uint32_t from, uint32_t to) {
  const uint64_t copies = 1 + random_below(&maker->random, MOST_PARALLEL);
  for (uint64_t i = 0; i < copies; i++) {
    if (maker->count == maker->capacity) {
      maker->capacity *= 2;
      maker->all = realloc(maker->all, maker->capacity * sizeof(struct edge));
      if (maker->all == NULL)
        abort();
    }
    const uint32_t weight = 1 + (uint32_t)random_below(&maker->random, LARGEST_WEIGHT);
    maker->all[maker->count++] = (struct edge){from, to, weight};
  }
}

static void add_clique(struct maker *maker, uint32_t first, uint32_t size) {
  for (uint32_t i = 0; i < size; i++)
    for (uint32_t k = 0; k < i; k++) {
      const bool one_way = random_below(&maker->random, 100) < PERCENT_ONE_WAY;
      const bool upwards = !one_way || random_below(&maker->random, 2);
      if (upwards)
        add(maker, first + k, first + i);
      if (!one_way || !upwards)
        add(maker, first + i, first + k);
    }
}

/* From a vertex to others at distances 1, 2, 4, ..., with probability 1/2, 1/4, 1/8, ... */
static void add_far_edges(struct maker *maker, uint32_t from, uint32_t vertices) {
  uint64_t odds = 2;
  for (uint32_t distance = 1; distance < vertices / 2; distance *= 2, odds *= 2)
    if (random_below(&maker->random, odds) == 0)
      add(maker, from, (from + distance * LARGEST_CLIQUE) & (vertices - 1));
}

void edges_make(struct edges *edges, unsigned scale, uint64_t seed) {
  const uint32_t vertices = (uint32_t)1 << scale;
  struct maker maker = {.capacity = (uint64_t)vertices * 8, .random = random_stream(seed, 0)};
  maker.all = allocate(maker.capacity * sizeof(struct edge));
  for (uint32_t first = 0; first < vertices;) {
    uint32_t size = 1 + (uint32_t)random_below(&maker.random, LARGEST_CLIQUE);
    size = size < vertices - first ? size : vertices - first;
    add_clique(&maker, first, size);
    for (uint32_t i = 0; i < size; i++)
      add_far_edges(&maker, first + i, vertices);
    first += size;
  }
  uint32_t *names = allocate_table(vertices, sizeof(uint32_t));
  for (uint32_t i = 0; i < vertices; i++) {
    const uint64_t other = random_below(&maker.random, i + 1);
    names[i] = names[other];
    names[other] = i;
  }
  for (uint64_t i = maker.count; i > 0; i--) {
    const uint64_t other = random_below(&maker.random, i);
    const struct edge edge = maker.all[other];
    maker.all[other] = maker.all[i - 1];
    maker.all[i - 1] = (struct edge){names[edge.from], names[edge.to], edge.weight};
  }
  free(names);
  *edges = (struct edges){maker.all, maker.count, vertices};
}
