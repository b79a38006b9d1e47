/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A Delaunay triangulation of a square that points are inserted into, by the cavity of triangles
 * whose circles hold the new point.
 *
 * Corners turn left; neighbour i lies across from corner i; null is the border of the square. The
 * neighbour of a live triangle is alive and has it as a neighbour.
 */
#pragma once

#include "yada/geometry.h"

#include <stdbool.h>
#include <stdint.h>

struct triangle {
  point corner[3];
  struct triangle *neighbour[3];
  struct triangle *next; /* in a list of new triangles to be refined */
  bool dead;             /* replaced by others */
  bool held;             /* somebody will look at it again, and frees it if it is dead */
};

/* The corner of the square at (0, 0), which is a corner of some triangle at all times. */
static const point mesh_origin = 0;

struct mesh {
  _Alignas(128) struct triangle *at_origin; /* alive */
};

/* What an insertion did. */
enum insertion {
  INSERTED,
  OVERFLOWED, /* nothing: the cavity has too many triangles */
  DEGENERATE  /* nothing: the point lies on an edge of the cavity */
};

struct inserted {
  struct triangle *bad; /* the new triangles that must be refined, held, linked by next */
  struct triangle *any; /* one of the new triangles */
};

SAFE struct triangle *triangle_make(point a, point b, point c);

/* Whether the triangle has a small angle, or its third corner lies in the circle over one of its
 * sides that is on the border. */
SAFE bool triangle_is_bad(const struct triangle *triangle);

/* Higher for those that encroach on the border; else in no particular order, which keeps threads
 * apart. */
SAFE uint64_t triangle_priority(const struct triangle *triangle);

/* Inserts `p`, which lies in the circle of `start`, unless it encroaches on a side of the border:
 * then that side's middle. What it makes is put before `inserted`'s lists. */
SAFE enum insertion mesh_insert(struct mesh *mesh, struct triangle *start, point p,
                                struct inserted *inserted);

/* Halves the side across from a corner of `start`, which is on the border. */
SAFE enum insertion mesh_split(struct mesh *mesh, struct triangle *start, int corner,
                               struct inserted *inserted);

/* Removes what is bad with a triangle, or one of the causes. */
SAFE enum insertion mesh_refine(struct mesh *mesh, struct triangle *triangle,
                                struct inserted *inserted);

/* A triangulation of random points, and of evenly spaced ones on the border. Outside of sections.
 */
void mesh_make(struct mesh *mesh, uint32_t points, uint64_t seed);
