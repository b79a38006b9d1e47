/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "yada/cavity.h"

#include <stddef.h>

void cavity_begin(struct cavity *cavity, struct triangle *start) {
  cavity->members[0] = start;
  cavity->member_count = 1;
  cavity->side_count = 0;
}

bool cavity_add_member(struct cavity *cavity, struct triangle *triangle) {
  if (cavity->member_count == MOST_MEMBERS)
    return false;
  cavity->members[cavity->member_count++] = triangle;
  return true;
}

bool cavity_has_member(const struct cavity *cavity, const struct triangle *triangle) {
  for (int i = 0; i < cavity->member_count; i++)
    if (cavity->members[i] == triangle)
      return true;
  return false;
}

struct triangle *cavity_member(const struct cavity *cavity, int index) {
  return index < cavity->member_count ? cavity->members[index] : NULL;
}

void cavity_add_side(struct cavity *cavity, point from, point to, struct triangle *inner,
                     struct triangle *outer) {
  /* More only where a section has seen what never was, and will be rolled back. */
  if (cavity->side_count < MOST_MEMBERS + 2)
    cavity->sides[cavity->side_count++] = (struct side){from, to, inner, outer};
}

int cavity_side_count(const struct cavity *cavity) { return cavity->side_count; }

struct side cavity_side(const struct cavity *cavity, int index) { return cavity->sides[index]; }

int cavity_side_after(const struct cavity *cavity, int index) {
  for (int i = 0; i < cavity->side_count; i++)
    if (cavity->sides[i].from == cavity->sides[index].to)
      return i;
  return -1;
}

bool cavity_sees_all(const struct cavity *cavity, point p) {
  for (int i = 0; i < cavity->side_count; i++)
    if (orientation(p, cavity->sides[i].from, cavity->sides[i].to) <= 0)
      return false;
  return cavity->side_count > 0;
}
