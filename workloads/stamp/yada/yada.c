/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Mesh refinement: Ruppert's algorithm. Triangles with an angle below 20 degrees get the centre of
 * their circle as a new point; where that would encroach on a side of the border, the side is
 * halved instead. An insertion replaces the triangles whose circles hold the new point; a section
 * makes some of them: one beside the other, around each of a few triangles.
 *
 * In the end the mesh must cover the square, be Delaunay, consistent, and without small angles or
 * encroached sides.
 */
#include "lib/harness.h"
#include "lib/heap.h"
#include "lib/map.h"
#include "lib/memory.h"
#include "lib/vector.h"
#include "yada/mesh.h"

#include <stdlib.h>

enum {
  REGION = 8, /* points that one section inserts, at most */
  BATCH = 4   /* triangles that are taken together; every second one is dead by then */
};

static struct {
  _Alignas(128) struct heap heap; /* of held triangles */
} work;
static struct mesh mesh;
static struct {
  _Alignas(128) uint64_t insertions, failures;
} counts[STAMP_MOST_THREADS];
static uint64_t bad_at_first;

/* All triangles that can be reached from one; found by their addresses. */
static struct vector reachable(struct triangle *from, size_t expected) {
  struct vector all;
  struct map seen;
  vector_initialise(&all, 1024);
  map_initialise(&seen, expected);
  vector_push(&all, from);
  map_insert(&seen, (uint64_t)(uintptr_t)from >> 4, from);
  for (size_t i = 0; i < all.size; i++)
    for (int side = 0; side < 3; side++) {
      struct triangle *next = ((struct triangle *)all.elements[i])->neighbour[side];
      if (next == NULL)
        continue;
      const uint64_t hash = (uint64_t)(uintptr_t)next >> 4;
      const struct map_entry *entry = map_chain(&seen, hash);
      while (entry != NULL && entry->value != next)
        entry = entry->next;
      if (entry != NULL)
        continue;
      map_insert(&seen, hash, next);
      vector_push(&all, next);
    }
  map_destroy(&seen);
  return all;
}

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const uint32_t points[STAMP_SIZES] = {6000, 700000, 3000000, 8000000};
  (void)input;
  mesh_make(&mesh, points[size], seed);
  struct vector all = reachable(mesh.at_origin, 2 * (size_t)points[size]);
  heap_initialise(&work.heap, all.size);
  for (size_t i = 0; i < all.size; i++) {
    struct triangle *triangle = all.elements[i];
    if (!triangle_is_bad(triangle))
      continue;
    triangle->held = true;
    bad_at_first++;
    heap_push(&work.heap, triangle_priority(triangle), triangle);
  }
  vector_destroy(&all);
}

/* Triangles that a thread has taken; null where there were no more. */
struct batch {
  struct triangle *triangle[BATCH];
};

static SECTION_FUNCTION struct batch take_bad(struct heap *heap) {
  struct batch batch = {{NULL}};
  SECTION {
    ATTEMPT();
    for (int i = 0; i < BATCH; i++)
      batch.triangle[i] = heap_pop(heap);
  }
  return batch;
}

/* What a section has done. */
struct region {
  struct triangle *bad; /* to be refined later; held */
  uint32_t insertions, failures;
};

/* Refines a held triangle, and lets go of it; puts what is bad now before `region->bad`. Result:
 * one of the new triangles, or null. */
SAFE static struct triangle *refine_held(struct mesh *all, struct triangle *triangle,
                                         struct region *region) {
  if (triangle->dead) {
    free(triangle);
    return NULL;
  }
  struct inserted inserted = {region->bad, NULL};
  const enum insertion insertion = mesh_refine(all, triangle, &inserted);
  if (triangle->dead) {
    free(triangle);
  } else if (insertion == INSERTED && triangle_is_bad(triangle)) {
    triangle->next = inserted.bad;
    inserted.bad = triangle;
  } else {
    triangle->held = false;
  }
  region->bad = inserted.bad;
  region->insertions += insertion == INSERTED;
  region->failures += insertion != INSERTED;
  return inserted.any;
}

/* Refines a bad triangle that somebody else holds. Result: as above. */
SAFE static struct triangle *refine_neighbour(struct mesh *all, struct triangle *triangle,
                                              struct region *region) {
  struct inserted inserted = {region->bad, NULL};
  const enum insertion insertion = mesh_refine(all, triangle, &inserted);
  region->bad = inserted.bad;
  region->insertions += insertion == INSERTED;
  return inserted.any;
}

/* A bad neighbour, which somebody else holds, or null. */
SAFE static struct triangle *bad_neighbour(const struct triangle *triangle) {
  for (int i = 0; i < 3; i++) {
    struct triangle *neighbour = triangle->neighbour[i];
    if (neighbour != NULL && neighbour->held && triangle_is_bad(neighbour))
      return neighbour;
  }
  return NULL;
}

/* Refines the mesh around triangles that the caller holds, by up to REGION insertions: first what
 * is bad because of the ones before, then bad neighbours of what was made last. */
static SECTION_FUNCTION struct region refine(struct mesh *all, struct batch batch) {
  struct region region = {NULL, 0, 0};
  SECTION {
    ATTEMPT();
    region = (struct region){NULL, 0, 0};
    for (int i = BATCH - 1; i >= 0; i--) {
      struct triangle *taken = batch.triangle[i];
      if (taken == NULL)
        continue;
      taken->next = region.bad;
      region.bad = taken;
    }
    struct triangle *made = NULL;
    while (region.insertions + region.failures < REGION) {
      struct triangle *next = region.bad;
      if (next != NULL) {
        region.bad = next->next;
        struct triangle *last = refine_held(all, next, &region);
        made = last != NULL ? last : made;
        continue;
      }
      next = made == NULL ? NULL : bad_neighbour(made);
      if (next == NULL)
        break;
      made = refine_neighbour(all, next, &region);
    }
  }
  return region;
}

static SECTION_FUNCTION void add_bad(struct heap *heap, struct triangle *first) {
  SECTION {
    ATTEMPT();
    for (struct triangle *triangle = first; triangle != NULL; triangle = triangle->next)
      heap_push(heap, triangle_priority(triangle), triangle);
  }
}

static void run(struct stamp_thread *self) {
  for (;;) {
    const struct batch batch = take_bad(&work.heap);
    self->sections++;
    if (batch.triangle[0] == NULL)
      break;
    const struct region region = refine(&mesh, batch);
    self->sections++;
    counts[self->index].insertions += region.insertions;
    counts[self->index].failures += region.failures;
    if (region.bad != NULL) {
      add_bad(&work.heap, region.bad);
      self->sections++;
    }
  }
}

static bool verify_triangle(const struct triangle *triangle) {
  const point *corner = triangle->corner;
  if (triangle->dead)
    return stamp_wrong("a dead triangle is still in the mesh");
  if (orientation(corner[0], corner[1], corner[2]) <= 0)
    return stamp_wrong("a triangle turns right");
  if (is_skinny(corner[0], corner[1], corner[2]))
    return stamp_wrong("a triangle has an angle below the bound");
  for (int i = 0; i < 3; i++) {
    const point from = corner[(i + 1) % 3];
    const point to = corner[(i + 2) % 3];
    const struct triangle *other = triangle->neighbour[i];
    if (other == NULL) {
      const bool on_x = point_x(from) == point_x(to) && (point_x(to) == 0 || point_x(to) == SIDE);
      const bool on_y = point_y(from) == point_y(to) && (point_y(to) == 0 || point_y(to) == SIDE);
      if (!on_x && !on_y)
        return stamp_wrong("the mesh has a hole");
      if (encroaches(corner[i], from, to))
        return stamp_wrong("a side of the border is encroached upon");
      continue;
    }
    int back = 0;
    while (back < 3 && other->neighbour[back] != triangle)
      back++;
    if (back == 3 || other->corner[(back + 1) % 3] != to || other->corner[(back + 2) % 3] != from)
      return stamp_wrong("two neighbours do not share a side");
    if (in_circle(corner[0], corner[1], corner[2], other->corner[back]))
      return stamp_wrong("the mesh is not Delaunay");
  }
  return true;
}

static bool verify(void) {
  uint64_t insertions = 0;
  for (unsigned i = 0; i < stamp_threads(); i++) {
    insertions += counts[i].insertions;
    if (counts[i].failures != 0)
      return stamp_wrong("%llu insertions failed", (unsigned long long)counts[i].failures);
  }
  struct vector all = reachable(mesh.at_origin, 4 * work.heap.capacity);
  __int128 area = 0;
  for (size_t i = 0; i < all.size; i++) {
    const struct triangle *triangle = all.elements[i];
    if (!verify_triangle(triangle))
      return false;
    area += orientation(triangle->corner[0], triangle->corner[1], triangle->corner[2]);
    uint64_t sum = 0;
    for (int corner = 0; corner < 3; corner++)
      sum += random_mix(triangle->corner[corner]);
    stamp_checksum(sum);
  }
  if (area != (__int128)2 * SIDE * SIDE)
    return stamp_wrong("the triangles do not cover the square once");
  stamp_report("bad_at_first", (double)bad_at_first);
  stamp_report("insertions", (double)insertions);
  stamp_report("triangles", (double)all.size);
  vector_destroy(&all);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "yada",
    .summary = "refines a Delaunay mesh until it has no small angles",
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
