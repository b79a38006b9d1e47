/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "yada/mesh.h"

#include "lib/memory.h"
#include "lib/random.h"
#include "yada/cavity.h"

#include <stdlib.h>

SAFE struct triangle *triangle_make(point a, point b, point c) {
  struct triangle *made = allocate(sizeof *made);
  made->corner[0] = a;
  made->corner[1] = b;
  made->corner[2] = c;
  made->neighbour[0] = NULL;
  made->neighbour[1] = NULL;
  made->neighbour[2] = NULL;
  made->next = NULL;
  made->dead = false;
  made->held = false;
  return made;
}

/* The corner that lies in the circle over the side across from it, or -1: only one angle can be
 * obtuse. */
GEOMETRY int obtuse_corner(point a, point b, point c) {
  return encroaches(a, b, c) ? 0 : encroaches(b, c, a) ? 1 : encroaches(c, a, b) ? 2 : -1;
}

/* The same, where that side is on the border. */
GEOMETRY int encroaching_corner(const struct triangle *triangle, point a, point b, point c) {
  const int corner = obtuse_corner(a, b, c);
  return corner >= 0 && triangle->neighbour[corner] == NULL ? corner : -1;
}

SAFE bool triangle_is_bad(const struct triangle *triangle) {
  const point a = triangle->corner[0], b = triangle->corner[1], c = triangle->corner[2];
  return is_skinny(a, b, c) || encroaching_corner(triangle, a, b, c) >= 0;
}

SAFE uint64_t triangle_priority(const struct triangle *triangle) {
  const point a = triangle->corner[0], b = triangle->corner[1], c = triangle->corner[2];
  const uint64_t any = random_mix(a ^ b * 3 ^ c * 5) >> 1;
  return encroaching_corner(triangle, a, b, c) >= 0 ? any | (uint64_t)1 << 63 : any;
}

/* What a look across a side of a member has shown. */
enum look { SEEN, NO_ROOM, ENCROACHED };

SAFE static enum look look_across(struct cavity *cavity, struct triangle *member, int corner,
                                  point from, point to, point p, bool on_border) {
  struct triangle *outer = member->neighbour[corner];
  if (outer == NULL) {
    const int64_t turn = orientation(from, to, p);
    if (on_border && turn == 0)
      return SEEN; /* the side that is halved */
    if (!on_border && (turn <= 0 || encroaches(p, from, to)))
      return ENCROACHED;
  } else if (cavity_has_member(cavity, outer)) {
    return SEEN;
  } else if (in_circle(outer->corner[0], outer->corner[1], outer->corner[2], p)) {
    return cavity_add_member(cavity, outer) ? SEEN : NO_ROOM;
  }
  cavity_add_side(cavity, from, to, member, outer);
  return SEEN;
}

/* Finds the cavity of `p` from one of its triangles, until a side of the border is encroached upon,
 * which is stored. `on_border`: p lies on a side of the border, which is halved. */
SAFE static enum look grow(struct cavity *cavity, struct triangle *start, point p, bool on_border,
                           struct triangle **triangle, int *corner) {
  cavity_begin(cavity, start);
  struct triangle *member = start;
  for (int at = 0; member != NULL; member = cavity_member(cavity, ++at)) {
    const point a = member->corner[0], b = member->corner[1], c = member->corner[2];
    for (int i = 0; i < 3; i++) {
      const point from = i == 0 ? b : i == 1 ? c : a;
      const point to = i == 0 ? c : i == 1 ? a : b;
      const enum look look = look_across(cavity, member, i, from, to, p, on_border);
      if (look == SEEN)
        continue;
      *triangle = member;
      *corner = i;
      return look;
    }
  }
  return SEEN;
}

/* Makes the triangles between `p` and the sides, and links them with what is around. */
SAFE static void fill(struct mesh *mesh, const struct cavity *cavity, point p,
                      struct inserted *inserted) {
  const int count = cavity_side_count(cavity);
  struct triangle *bad = inserted->bad;
  struct triangle *made[MOST_MEMBERS + 2];
  uint8_t open[MOST_MEMBERS + 2]; /* bit i: the side across from corner i is on the border */
  for (int i = 0; i < count; i++) {
    const struct side side = cavity_side(cavity, i);
    struct triangle *triangle = triangle_make(p, side.from, side.to);
    made[i] = triangle;
    open[i] = side.outer == NULL ? 7 : 6;
    if (side.from == mesh_origin || side.to == mesh_origin)
      mesh->at_origin = triangle;
    if (side.outer == NULL)
      continue;
    triangle->neighbour[0] = side.outer;
    const int back = side.outer->neighbour[0] == side.inner   ? 0
                     : side.outer->neighbour[1] == side.inner ? 1
                                                              : 2;
    side.outer->neighbour[back] = triangle;
  }
  for (int i = 0; i < count; i++) {
    const int after = cavity_side_after(cavity, i);
    if (after < 0)
      continue;
    made[i]->neighbour[1] = made[after]; /* across from the beginning of side i */
    made[after]->neighbour[2] = made[i];
    open[i] &= 5;
    open[after] &= 3;
  }
  for (int i = 0; i < count; i++) {
    const struct side side = cavity_side(cavity, i);
    const int corner = obtuse_corner(p, side.from, side.to);
    if (!is_skinny(p, side.from, side.to) && (corner < 0 || !(open[i] >> corner & 1)))
      continue;
    made[i]->held = true;
    made[i]->next = bad;
    bad = made[i];
  }
  inserted->bad = bad;
  inserted->any = made[0];
}

/* Replaces the members of a cavity by triangles around `p`. Who holds a member frees it later. */
SAFE static enum insertion replace(struct mesh *mesh, const struct cavity *cavity, point p,
                                   struct inserted *inserted) {
  if (!cavity_sees_all(cavity, p))
    return DEGENERATE;
  fill(mesh, cavity, p, inserted);
  struct triangle *member = cavity_member(cavity, 0);
  for (int at = 0; member != NULL; member = cavity_member(cavity, ++at)) {
    if (member->held)
      member->dead = true;
    else
      free(member);
  }
  return INSERTED;
}

SAFE enum insertion mesh_split(struct mesh *mesh, struct triangle *start, int corner,
                               struct inserted *inserted) {
  struct cavity cavity;
  const point a = start->corner[(corner + 1) % 3];
  const point b = start->corner[(corner + 2) % 3];
  const point middle = point_at((point_x(a) + point_x(b)) / 2, (point_y(a) + point_y(b)) / 2);
  if (middle == a || middle == b)
    return DEGENERATE;
  struct triangle *triangle = NULL;
  if (grow(&cavity, start, middle, true, &triangle, &corner) != SEEN)
    return OVERFLOWED;
  return replace(mesh, &cavity, middle, inserted);
}

SAFE enum insertion mesh_insert(struct mesh *mesh, struct triangle *start, point p,
                                struct inserted *inserted) {
  struct cavity cavity;
  struct triangle *triangle = NULL;
  int corner = 0;
  switch (grow(&cavity, start, p, false, &triangle, &corner)) {
  case NO_ROOM:
    return OVERFLOWED;
  case ENCROACHED:
    return mesh_split(mesh, triangle, corner, inserted);
  default:
    return replace(mesh, &cavity, p, inserted);
  }
}

SAFE enum insertion mesh_refine(struct mesh *mesh, struct triangle *triangle,
                                struct inserted *inserted) {
  const point a = triangle->corner[0], b = triangle->corner[1], c = triangle->corner[2];
  const int encroaching = encroaching_corner(triangle, a, b, c);
  if (encroaching >= 0)
    return mesh_split(mesh, triangle, encroaching, inserted);
  return mesh_insert(mesh, triangle, circumcentre(a, b, c), inserted);
}

/* Walks from a triangle towards `p`, to the one that has it. */
static struct triangle *locate(struct triangle *from, point p) {
  for (struct triangle *before = NULL;;) {
    struct triangle *next = NULL;
    for (int i = 0; i < 3 && next == NULL; i++)
      if (from->neighbour[i] != NULL && from->neighbour[i] != before &&
          orientation(from->corner[(i + 1) % 3], from->corner[(i + 2) % 3], p) < 0)
        next = from->neighbour[i];
    if (next == NULL)
      return from;
    before = from;
    from = next;
  }
}

/* Nobody will refine these triangles. */
static void let_go(struct triangle *bad) {
  for (; bad != NULL; bad = bad->next)
    bad->held = false;
}

/* Halves the sides of the border until there are 2^levels on each side of the square. */
static struct triangle *halve_border(struct mesh *mesh, struct triangle *any, unsigned levels) {
  static const int sides[4][4] = {{1, 0, 0, 0}, {0, 1, 1, 0}, {1, 0, 0, 1}, {0, 1, 0, 0}};
  for (unsigned level = 0; level < levels; level++)
    for (int side = 0; side < 4; side++)
      for (int64_t i = 0; i < (int64_t)1 << level; i++) {
        const int64_t at = (2 * i + 1) * (SIDE >> (level + 1));
        const point middle = point_at(sides[side][0] * at + sides[side][2] * SIDE,
                                      sides[side][1] * at + sides[side][3] * SIDE);
        any = locate(any, middle);
        for (int corner = 0; corner < 3; corner++)
          if (any->neighbour[corner] == NULL &&
              orientation(any->corner[(corner + 1) % 3], any->corner[(corner + 2) % 3], middle) ==
                  0) {
            struct inserted inserted = {NULL, NULL};
            mesh_split(mesh, any, corner, &inserted);
            any = inserted.any;
            let_go(inserted.bad);
            break;
          }
      }
  return any;
}

/* The bits of a coordinate, spread to every second place. */
static uint64_t spread(uint64_t x) {
  x = (x | x << 16) & 0x0000ffff0000ffffu;
  x = (x | x << 8) & 0x00ff00ff00ff00ffu;
  x = (x | x << 4) & 0x0f0f0f0f0f0f0f0fu;
  x = (x | x << 2) & 0x3333333333333333u;
  return (x | x << 1) & 0x5555555555555555u;
}

/* Along Morton's curve. */
static int compare_places(const void *a, const void *b) {
  const point p = *(const point *)a;
  const point q = *(const point *)b;
  const uint64_t at_p = spread((uint64_t)point_x(p)) | spread((uint64_t)point_y(p)) << 1;
  const uint64_t at_q = spread((uint64_t)point_x(q)) | spread((uint64_t)point_y(q)) << 1;
  return at_p < at_q ? -1 : at_p > at_q;
}

/* In rounds, each twice as large as all before it, and in it from neighbour to neighbour: so the
 * walks are short, and the cavities small. */
static void insert_random_points(struct mesh *mesh, struct triangle *any, uint32_t count,
                                 struct random *random) {
  point *points = allocate((count + 1) * sizeof *points);
  for (uint32_t i = 0; i < count; i++) {
    const int64_t x = 1 + (int64_t)random_below(random, SIDE - 1);
    const int64_t y = 1 + (int64_t)random_below(random, SIDE - 1);
    points[i] = point_at(x, y);
  }
  for (uint32_t begin = 0, end = 1; begin < count; begin = end, end = end * 3) {
    end = end < count ? end : count;
    qsort(points + begin, end - begin, sizeof *points, compare_places);
    for (uint32_t i = begin; i < end; i++) {
      any = locate(any, points[i]);
      struct inserted inserted = {NULL, NULL};
      if (mesh_insert(mesh, any, points[i], &inserted) != INSERTED)
        continue; /* a point that is a corner already */
      any = inserted.any;
      let_go(inserted.bad);
    }
  }
  free(points);
}

void mesh_make(struct mesh *mesh, uint32_t points, uint64_t seed) {
  struct random random = random_stream(seed, 0);
  const point corners[4] = {point_at(0, 0), point_at(SIDE, 0), point_at(SIDE, SIDE),
                            point_at(0, SIDE)};
  struct triangle *any = triangle_make(corners[0], corners[1], corners[2]);
  any->neighbour[1] = triangle_make(corners[0], corners[2], corners[3]);
  any->neighbour[1]->neighbour[2] = any;
  mesh->at_origin = any;
  unsigned levels = 1;
  while ((uint64_t)1 << (2 * levels) < points)
    levels++;
  any = halve_border(mesh, any, levels);
  insert_random_points(mesh, any, points, &random);
}
