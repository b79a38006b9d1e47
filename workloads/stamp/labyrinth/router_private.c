/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The copy has a border of walls, so that the wave need not look where it is: `places` are
 * positions in the copy, cells those in the grid.
 */
#include "labyrinth/router.h"
#include "lib/memory.h"

#include <stdbool.h>

enum { DIRECTIONS = 6 };

/* A place's distance from the path's beginning, or one of these. */
static const uint32_t unreached = UINT32_MAX;
static const uint32_t wall = UINT32_MAX - 1;

struct router {
  _Alignas(128) struct shape shape;
  uint32_t row, layer; /* of the copy, in places */
  uint32_t steps[DIRECTIONS];
  uint32_t *distances; /* by place */
  uint32_t *wave;      /* places in the order of their distance */
  uint32_t *path;      /* cells */
};

struct router *router_make(const struct shape *shape) {
  struct router *router = allocate_table(1, sizeof *router);
  const uint32_t row = shape->size[0] + 2;
  const uint32_t layer = row * (shape->size[1] + 2);
  const uint32_t places = layer * (shape->size[2] + 2);
  router->shape = *shape;
  router->row = row;
  router->layer = layer;
  const uint32_t steps[DIRECTIONS] = {1, -1u, row, -row, layer, -layer};
  for (int i = 0; i < DIRECTIONS; i++)
    router->steps[i] = steps[i];
  router->distances = allocate_table(places, sizeof(uint32_t));
  router->wave = allocate_table(shape_cells(shape), sizeof(uint32_t));
  router->path = allocate_table(shape_cells(shape), sizeof(uint32_t));
  for (uint32_t i = 0; i < places; i++)
    router->distances[i] = wall;
  return router;
}

static uint32_t place_of(const struct router *router, uint32_t cell) {
  const uint32_t x = cell % router->shape.size[0];
  const uint32_t rest = cell / router->shape.size[0];
  const uint32_t y = rest % router->shape.size[1];
  const uint32_t z = rest / router->shape.size[1];
  return (z + 1) * router->layer + (y + 1) * router->row + x + 1;
}

static uint32_t cell_of(const struct router *router, uint32_t place) {
  const uint32_t x = place % router->row - 1;
  const uint32_t y = place % router->layer / router->row - 1;
  const uint32_t z = place / router->layer - 1;
  return (z * router->shape.size[1] + y) * router->shape.size[0] + x;
}

void router_copy(struct router *router, const uint32_t *cells) {
  /* The copy may be torn: the section looks at every cell of its path again. */
  const uint32_t width = router->shape.size[0];
  const uint32_t rows = router->shape.size[1] * router->shape.size[2];
  for (uint32_t i = 0; i < rows; i++) {
    const uint32_t *from = &cells[(size_t)i * width];
    uint32_t *to = &router->distances[place_of(router, i * width)];
    for (uint32_t x = 0; x < width; x++)
      to[x] = __atomic_load_n(&from[x], __ATOMIC_RELAXED) == 0 ? unreached : wall;
  }
}

void router_set(struct router *router, uint32_t cell, uint32_t value) {
  router->distances[place_of(router, cell)] = value == 0 ? unreached : wall;
}

/* The wave; whether it has reached `to`. */
static bool expand(struct router *router, uint32_t from, uint32_t to) {
  uint32_t *distances = router->distances;
  uint32_t *wave = router->wave;
  uint32_t end = 0;
  distances[from] = 0;
  distances[to] = unreached;
  wave[end++] = from;
  for (uint32_t begin = 0; begin < end; begin++) {
    const uint32_t place = wave[begin];
    const uint32_t distance = distances[place] + 1;
    for (int i = 0; i < DIRECTIONS; i++) {
      const uint32_t next = place + router->steps[i];
      if (distances[next] != unreached)
        continue;
      distances[next] = distance;
      if (next == to)
        return true;
      wave[end++] = next;
    }
  }
  return false;
}

/* Goes straight on where it can: fewer bends leave more room for others. */
static uint32_t trace_back(struct router *router, uint32_t to) {
  const uint32_t *distances = router->distances;
  uint32_t length = 0;
  uint32_t step = router->steps[0];
  router->path[length++] = cell_of(router, to);
  for (uint32_t place = to; distances[place] != 0;) {
    const uint32_t wanted = distances[place] - 1;
    for (int i = 0; distances[place + step] != wanted && i < DIRECTIONS; i++)
      step = router->steps[i];
    place += step;
    router->path[length++] = cell_of(router, place);
  }
  return length;
}

uint32_t router_find(struct router *router, uint32_t from, uint32_t to) {
  const uint32_t end = place_of(router, to);
  return expand(router, place_of(router, from), end) ? trace_back(router, end) : 0;
}

uint32_t router_cell(const struct router *router, uint32_t index) { return router->path[index]; }
