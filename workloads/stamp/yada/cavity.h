/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The triangles whose circles hold a new point, and the sides around them. A cavity lives on the
 * stack of one section, and is not used before cavity_begin: it never has to be undone.
 */
#pragma once

#include "lib/section.h"
#include "yada/geometry.h"

#include <stdbool.h>

enum { MOST_MEMBERS = 256 /* of a cavity; ten are usual */ };

struct triangle;

/* A side of the cavity, seen from inside: its ends turn left around the new point. */
struct side {
  point from, to;
  struct triangle *inner, *outer; /* on both sides of it; outer is null at the border */
};

struct cavity {
  struct triangle *members[MOST_MEMBERS];
  struct side sides[MOST_MEMBERS + 2];
  int member_count, side_count;
};

/* The cavity is `start` alone, without sides. */
PRIVATE void cavity_begin(struct cavity *cavity, struct triangle *start);

/* False where there is no room. */
PRIVATE bool cavity_add_member(struct cavity *cavity, struct triangle *triangle);
PRIVATE bool cavity_has_member(const struct cavity *cavity, const struct triangle *triangle);

/* In the order in which they were added; null past the last one. */
PRIVATE struct triangle *cavity_member(const struct cavity *cavity, int index);

/* A cavity has at most two sides more than members. */
PRIVATE void cavity_add_side(struct cavity *cavity, point from, point to, struct triangle *inner,
                             struct triangle *outer);
PRIVATE int cavity_side_count(const struct cavity *cavity);
PRIVATE struct side cavity_side(const struct cavity *cavity, int index);

/* The side that begins where side `index` ends, or -1. */
PRIVATE int cavity_side_after(const struct cavity *cavity, int index);

/* Whether every side turns left around `p`. */
PRIVATE bool cavity_sees_all(const struct cavity *cavity, point p);
