/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Routing: connects pairs of cells of a grid of three dimensions by paths that do not meet, each by
 * Lee's algorithm. A section copies the grid, finds a path in the copy, and takes the cells of the
 * path, if they are still free: only these are compared with what others have done meanwhile.
 *
 * The ends of all pairs are taken from the beginning. Every path must connect its pair, and no cell
 * be in two paths. Cells only ever fill, so for a pair without a path there must be none in the
 * final grid, either.
 */
#include "labyrinth/router.h"
#include "lib/harness.h"
#include "lib/memory.h"
#include "lib/queue.h"
#include "lib/vector.h"

#include <stdlib.h>
#include <string.h>

struct pair {
  uint32_t from, to;
  uint32_t name; /* what its cells hold: from 1 */
};

struct path {
  const struct pair *pair;
  uint32_t length;
  uint32_t cells[]; /* from the pair's `to` to its `from` */
};

enum outcome {
  ROUTED,
  STALE,  /* a cell of the path is taken by now */
  BLOCKED /* there is no path in the copy */
};

struct result {
  enum outcome outcome;
  uint32_t length;
};

static struct shape shape;
static uint32_t *cells;
static struct pair *pairs;
static uint32_t pair_count;
static struct queue work; /* of struct pair */
static struct {
  _Alignas(128) struct vector all; /* of struct path */
} paths;

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const struct {
    struct shape shape;
    uint32_t pairs;
  } parameters[STAMP_SIZES] = {
      {{{48, 48, 3}}, 96}, {{{384, 384, 3}}, 512}, {{{512, 512, 7}}, 768}, {{{768, 768, 7}}, 1536}};
  (void)input;
  struct random random = random_stream(seed, 0);
  shape = parameters[size].shape;
  pair_count = parameters[size].pairs;
  const uint32_t count = shape_cells(&shape);
  cells = allocate_table(count, sizeof(uint32_t));
  pairs = allocate_table(pair_count, sizeof(struct pair));
  queue_initialise(&work, pair_count);
  vector_initialise(&paths.all, 16);
  for (uint32_t i = 0; i < pair_count; i++) {
    uint32_t ends[2];
    for (int end = 0; end < 2; end++) {
      do
        ends[end] = (uint32_t)random_below(&random, count);
      while (cells[ends[end]] != 0);
      cells[ends[end]] = i + 1;
    }
    pairs[i] = (struct pair){ends[0], ends[1], i + 1};
    queue_push(&work, &pairs[i]);
  }
}

static SECTION_FUNCTION struct pair *take_pair(struct queue *queue) {
  struct pair *pair = NULL;
  SECTION {
    ATTEMPT();
    pair = queue_pop(queue);
  }
  return pair;
}

/* Copies the grid, finds a path, and takes its cells. With `exact`, the copy is of one moment, and
 * BLOCKED is the truth; without, it may have cells of sections that never were. */
static SECTION_FUNCTION struct result route(uint32_t *grid, struct router *router, uint32_t count,
                                            struct pair pair, bool exact) {
  struct result result = {BLOCKED, 0};
  SECTION {
    ATTEMPT();
    if (exact)
      for (uint32_t i = 0; i < count; i++)
        router_set(router, i, grid[i]);
    else
      router_copy(router, grid);
    const uint32_t length = router_find(router, pair.from, pair.to);
    enum outcome outcome = length == 0 ? BLOCKED : ROUTED;
    for (uint32_t i = 1; i + 1 < length && outcome == ROUTED; i++)
      if (grid[router_cell(router, i)] != 0)
        outcome = STALE;
    if (outcome == ROUTED)
      for (uint32_t i = 1; i + 1 < length; i++)
        grid[router_cell(router, i)] = pair.name;
    result.outcome = outcome;
    result.length = length;
  }
  return result;
}

static SECTION_FUNCTION void add_path(struct vector *all, struct path *path) {
  SECTION {
    ATTEMPT();
    vector_push(all, path);
  }
}

static struct path *copy_path(const struct router *router, const struct pair *pair,
                              uint32_t length) {
  struct path *path = allocate(sizeof *path + length * sizeof(uint32_t));
  path->pair = pair;
  path->length = length;
  for (uint32_t i = 0; i < length; i++)
    path->cells[i] = router_cell(router, i);
  return path;
}

static void run(struct stamp_thread *self) {
  struct router *router = router_make(&shape);
  const uint32_t count = shape_cells(&shape);
  for (;;) {
    const struct pair *pair = take_pair(&work);
    self->sections++;
    if (pair == NULL)
      break;
    struct result result;
    bool exact = false;
    bool sure = false;
    do {
      result = route(cells, router, count, *pair, exact);
      self->sections++;
      sure = result.outcome == ROUTED || (result.outcome == BLOCKED && exact);
      exact = result.outcome == BLOCKED;
    } while (!sure);
    if (result.outcome == ROUTED) {
      add_path(&paths.all, copy_path(router, pair, result.length));
      self->sections++;
    }
  }
}

static bool adjacent(uint32_t a, uint32_t b) {
  unsigned steps = 0;
  for (int axis = 0; axis < 3; axis++) {
    const uint32_t at_a = a % shape.size[axis];
    const uint32_t at_b = b % shape.size[axis];
    steps += at_a > at_b ? at_a - at_b : at_b - at_a;
    a /= shape.size[axis];
    b /= shape.size[axis];
  }
  return steps == 1;
}

/* Takes the path's cells in `free_grid`. */
static bool verify_path(const struct path *path, uint32_t *free_grid) {
  const struct pair *pair = path->pair;
  if (path->length < 2 || path->cells[0] != pair->to || path->cells[path->length - 1] != pair->from)
    return stamp_wrong("the path of pair %u does not connect it", pair->name);
  for (uint32_t i = 0; i < path->length; i++) {
    const uint32_t cell = path->cells[i];
    if (i > 0 && !adjacent(cell, path->cells[i - 1]))
      return stamp_wrong("the path of pair %u has a gap", pair->name);
    const bool end = i == 0 || i + 1 == path->length;
    if (free_grid[cell] != (end ? pair->name : 0))
      return stamp_wrong("the path of pair %u meets that of %u", pair->name, free_grid[cell]);
    free_grid[cell] = pair->name;
    stamp_checksum((uint64_t)cell << 32 | pair->name);
  }
  return true;
}

static bool verify(void) {
  const uint32_t count = shape_cells(&shape);
  uint32_t *grid = allocate_table(count, sizeof(uint32_t));
  bool *routed = allocate_table(pair_count + 1, sizeof(bool));
  for (uint32_t i = 0; i < pair_count; i++)
    grid[pairs[i].from] = grid[pairs[i].to] = pairs[i].name;
  for (size_t i = 0; i < paths.all.size; i++) {
    const struct path *path = paths.all.elements[i];
    if (routed[path->pair->name])
      return stamp_wrong("pair %u has two paths", path->pair->name);
    routed[path->pair->name] = true;
    if (!verify_path(path, grid))
      return false;
  }
  if (memcmp(grid, cells, count * sizeof(uint32_t)) != 0)
    return stamp_wrong("the grid does not hold what the paths say");
  struct router *router = router_make(&shape);
  for (uint32_t i = 0; i < pair_count; i++) {
    if (routed[pairs[i].name])
      continue;
    router_copy(router, grid);
    if (router_find(router, pairs[i].from, pairs[i].to) != 0)
      return stamp_wrong("pair %u has no path, but there is one", pairs[i].name);
  }
  stamp_report("pairs", pair_count);
  stamp_report("routed", (double)paths.all.size);
  free(routed);
  free(grid);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "labyrinth",
    .summary = "connects pairs of cells of a grid by paths that do not meet",
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
