/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Lee's algorithm on a private copy of the grid: a wave from one end until it reaches the other,
 * then back along falling distances. A router belongs to one thread.
 */
#pragma once

#include "lib/section.h"

#include <stddef.h>
#include <stdint.h>

/* Cell (x, y, z) is number (z * size[1] + y) * size[0] + x. */
struct shape {
  uint32_t size[3];
};

static inline uint32_t shape_cells(const struct shape *shape) {
  return shape->size[0] * shape->size[1] * shape->size[2];
}

struct router;

/* Outside of sections. */
struct router *router_make(const struct shape *shape);

/* The copy becomes what `cells` hold now: 0 is free. Others may be writing them. */
PRIVATE void router_copy(struct router *router, const uint32_t *cells);

/* One cell of the copy. */
PRIVATE void router_set(struct router *router, uint32_t cell, uint32_t value);

/* A shortest path over free cells of the copy; number of its cells with both ends, or 0 if there is
 * none. */
PRIVATE uint32_t router_find(struct router *router, uint32_t from, uint32_t to);

/* Cell `index` of the path found last, from its end to its beginning. */
PRIVATE uint32_t router_cell(const struct router *router, uint32_t index);
