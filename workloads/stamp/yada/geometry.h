/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Points on a grid of integers, and exact predicates on them.
 *
 * Coordinates are from 0 to SIDE. Differences of coordinates have at most 25 bits and a sign, so
 * orientation fits 64 bits, and the in-circle determinant 128.
 */
#pragma once

#include "lib/section.h"

#include <stdbool.h>
#include <stdint.h>

enum { SIDE = 1 << 24 };

/* x in the low half, y in the high one: one access reads a point. */
typedef uint64_t point;

#define GEOMETRY SAFE static inline

GEOMETRY point point_at(int64_t x, int64_t y) {
  return (uint64_t)(uint32_t)x | (uint64_t)(uint32_t)y << 32;
}
GEOMETRY int64_t point_x(point p) { return (int32_t)(uint32_t)p; }
GEOMETRY int64_t point_y(point p) { return (int32_t)(uint32_t)(p >> 32); }

/* Twice the area of the triangle; positive where it turns left. */
GEOMETRY int64_t orientation(point a, point b, point c) {
  return (point_x(b) - point_x(a)) * (point_y(c) - point_y(a)) -
         (point_y(b) - point_y(a)) * (point_x(c) - point_x(a));
}

GEOMETRY int64_t squared_distance(point a, point b) {
  const int64_t x = point_x(a) - point_x(b);
  const int64_t y = point_y(a) - point_y(b);
  return x * x + y * y;
}

/* Whether `p` lies inside the circle through a, b, c, which turn left. */
GEOMETRY bool in_circle(point a, point b, point c, point p) {
  const int64_t ax = point_x(a) - point_x(p), ay = point_y(a) - point_y(p);
  const int64_t bx = point_x(b) - point_x(p), by = point_y(b) - point_y(p);
  const int64_t cx = point_x(c) - point_x(p), cy = point_y(c) - point_y(p);
  const __int128 at_a = (__int128)(ax * ax + ay * ay) * (bx * cy - by * cx);
  const __int128 at_b = (__int128)(bx * bx + by * by) * (cx * ay - cy * ax);
  const __int128 at_c = (__int128)(cx * cx + cy * cy) * (ax * by - ay * bx);
  return at_a + at_b + at_c > 0;
}

/* Whether `p` lies inside the circle whose diameter is the segment: it sees it at an obtuse angle.
 */
GEOMETRY bool encroaches(point p, point a, point b) {
  return (point_x(a) - point_x(p)) * (point_x(b) - point_x(p)) +
             (point_y(a) - point_y(p)) * (point_y(b) - point_y(p)) <
         0;
}

/* The square of the sine of the least angle that is good enough, 20 degrees: below 20.7, with which
 * Ruppert's algorithm ends. */
#define LEAST_SQUARED_SINE 0.11697777844051105

/* Whether the triangle has an angle below the bound: the one opposite the shortest side, whose sine
 * is twice the area divided by the other two sides. */
GEOMETRY bool is_skinny(point a, point b, point c) {
  const double ab = (double)squared_distance(a, b);
  const double bc = (double)squared_distance(b, c);
  const double ca = (double)squared_distance(c, a);
  const double area = (double)orientation(a, b, c);
  double sides = ab * bc;
  sides = bc * ca > sides ? bc * ca : sides;
  sides = ca * ab > sides ? ca * ab : sides;
  return area * area < LEAST_SQUARED_SINE * sides;
}

/* The centre of the circle through a, b, c, rounded to the grid. */
GEOMETRY point circumcentre(point a, point b, point c) {
  const double bx = (double)(point_x(b) - point_x(a)), by = (double)(point_y(b) - point_y(a));
  const double cx = (double)(point_x(c) - point_x(a)), cy = (double)(point_y(c) - point_y(a));
  const double scale = 0.5 / (bx * cy - by * cx);
  const double b2 = bx * bx + by * by;
  const double c2 = cx * cx + cy * cy;
  const double x = (double)point_x(a) + (cy * b2 - by * c2) * scale;
  const double y = (double)point_y(a) + (bx * c2 - cx * b2) * scale;
  /* What is far outside stays outside, and in the range of the predicates. */
  const double most = 2.0 * SIDE;
  const double near_x = x < -SIDE ? -SIDE : x > most ? most : x;
  const double near_y = y < -SIDE ? -SIDE : y > most ? most : y;
  return point_at((int64_t)(near_x + (near_x < 0 ? -0.5 : 0.5)),
                  (int64_t)(near_y + (near_y < 0 ? -0.5 : 0.5)));
}
