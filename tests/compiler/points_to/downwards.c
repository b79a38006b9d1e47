// Subtraction from a pointer to an array element whose index is unknown, or to one past the end: to other elements, to other fields
// of them, to a field in front of the array, across rows, and where the analysis learns only later that indices are unknown.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = element
// RUN: %{check}
// REDEFINE: %{kind} = two
// RUN: %{check}
// REDEFINE: %{kind} = field
// RUN: %{check}
// REDEFINE: %{kind} = behind
// RUN: %{check}
// REDEFINE: %{kind} = before
// RUN: %{check}
// REDEFINE: %{kind} = rows
// RUN: %{check}
// REDEFINE: %{kind} = far
// RUN: %{check}
// REDEFINE: %{kind} = stack
// RUN: %{check}
// REDEFINE: %{kind} = member_stack
// RUN: %{check}
// REDEFINE: %{kind} = ends
// RUN: %{check}
// REDEFINE: %{kind} = end_of_index
// RUN: %{check}
// REDEFINE: %{kind} = container
// RUN: %{check}
// REDEFINE: %{kind} = later
// RUN: %{check}
// REDEFINE: %{kind} = chosen
// RUN: %{check}
#include <stddef.h>
struct pair {
  long first, second;
};
static struct {
  long head;
  long elements[16];
  struct pair pairs[16];
  long rows[8][4];
} all;
static long elements[16];
static volatile int number;
static long *place;
#if defined(KIND_element)
static void make(void) { place = &elements[number]; }
static void one(void) { place[-1] = 1; }
static void two(void) { elements[number] = 2; }
#elif defined(KIND_two)
static void make(void) { place = &elements[number]; }
static void one(void) { place[-2] = 1; }
static void two(void) { elements[number] = 2; }
#elif defined(KIND_field)
static void make(void) { place = &all.pairs[number].first; }
static void one(void) { place[-1] = 1; }
static void two(void) { all.pairs[number].second = 2; }
#elif defined(KIND_behind)
static void make(void) { place = &all.elements[number]; }
static void one(void) { place[-1] = 1; }
static void two(void) { all.elements[number] = 2; }
#elif defined(KIND_before)
static void make(void) { place = &all.elements[number]; }
static void one(void) { *(long *)((char *)place - offsetof(__typeof__(all), elements) + offsetof(__typeof__(all), head)) = 1; }
static void two(void) { all.head = 2; }
#elif defined(KIND_rows)
static void make(void) { place = &all.rows[number][2]; }
static void one(void) { place[-3] = 1; }
static void two(void) { all.rows[number][3] = 2; }
#elif defined(KIND_far)
static void make(void) { place = &elements[number]; }
static void one(void) { place[-13] = 1; }
static void two(void) { elements[number] = 2; }
#elif defined(KIND_stack)
static long small[4], *top = small;
static void make(void) {
  for (int i = 0; i < number; ++i)
    *top++ = i;
}
static void one(void) { *--top = 1; }
static void two(void) { small[3] = 2; }
#elif defined(KIND_member_stack)
static struct {
  long *top, elements[3], after;
} stack = {.top = stack.elements};
static void make(void) { *stack.top++ = 1; }
static void one(void) {
  if (number)
    make();
  *--stack.top = 1;
}
static void two(void) { stack.elements[2] = 2; }
#elif defined(KIND_ends)
static long *end;
static void make(void) {
  place = elements + 8;
  end = place + 8;
}
static void one(void) { end[-1] = 1; }
static void two(void) { elements[15] = 2; }
#elif defined(KIND_end_of_index)
static void make(void) { place = &elements[number]; }
static void one(void) { place[-16] = 1; }
static void two(void) { elements[0] = 2; }
#elif defined(KIND_container)
static void make(void) { place = &all.elements[number]; }
static void one(void) { *(long *)((char *)place - offsetof(__typeof__(all), elements[16]) + offsetof(__typeof__(all), head)) = 1; }
static void two(void) { all.head = 2; }
#elif defined(KIND_later)
static long *moved;
static void make(void) {
  place = elements;
  moved = place - 1; // only what the loop below makes of the place has something before it
  for (int i = 0; i < number; ++i)
    place += 1;
  moved = place - 1;
}
static void one(void) { *moved = 1; }
static void two(void) { elements[number] = 2; }
#else
static long *walking;
static void make(void) {
  place = number ? &elements[0] : &elements[1];
  for (walking = elements; walking != elements + number; ++walking)
    *walking = 3;
}
static void one(void) { place[-1] = 1; }
static void two(void) { elements[number] = 2; }
#endif
#include "Inputs/two-sections.h"
// CHECK: edge first second
