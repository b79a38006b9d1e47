// Memory of unknown length from a place where an array begins: where a record or a member of a union begins there, too, the length
// is its, or that of the records that follow, not the array's alone.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = filled
// RUN: %{check}
// REDEFINE: %{kind} = heap
// RUN: %{check}
// REDEFINE: %{kind} = file
// RUN: %{check}
// REDEFINE: %{kind} = copied
// RUN: %{check}
// REDEFINE: %{kind} = copied_pointers
// RUN: %{check}
// REDEFINE: %{kind} = members
// RUN: %{check}
// REDEFINE: %{kind} = rows
// RUN: %{check}
// REDEFINE: %{kind} = records_inside
// RUN: %{check}
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static volatile int number;
static volatile size_t size;
struct item {
  char name[8];
  long *x;
};
static struct item items[10], copy[10];
#if defined(KIND_filled)
static void make(void) { items[number].name[number] = 1; }
static void one(void) { items[3].x = 0; }
static void two(void) { memset(items, 0, size); }
#elif defined(KIND_heap)
static struct item *block;
static void make(void) {
  block = calloc(size, sizeof *block);
  block[number].name[number] = 1;
}
static void one(void) { block[3].x = 0; }
static void two(void) { memset(block, 0, size * sizeof *block); }
#elif defined(KIND_file)
static void make(void) { items[number].name[number] = 1; }
static void one(void) { items[3].x = 0; }
static void two(void) { (void)!read(0, items, size); }
#elif defined(KIND_copied)
static void make(void) { items[0].name[number] = 1; }
static void one(void) { items[0].x = 0; }
static void two(void) { memcpy(items, copy, size); }
#elif defined(KIND_copied_pointers)
static long x;
static void make(void) {
  items[0].name[number] = 1;
  items[3].x = &x;
  memcpy(copy, items, size);
}
static void one(void) { x = 1; }
static void two(void) { *copy[3].x = 2; }
#elif defined(KIND_members)
static union {
  char tag[8];
  long values[8];
} all;
static void make(void) { all.tag[number] = 1; }
static void one(void) { all.values[2] = 1; }
static void two(void) { memset(all.values, 0, size); }
#elif defined(KIND_rows)
static struct {
  long first;
  long rows[8][4];
} matrix;
static void make(void) { matrix.rows[number][number] = 1; }
static void one(void) { matrix.rows[2][1] = 1; }
static void two(void) { memset(matrix.rows, 0, size); }
#else
static struct {
  long first;
  struct item items[4];
} all;
static void make(void) { all.items[0].name[number] = 1; }
static void one(void) { all.items[3].x = 0; }
static void two(void) { memset(&all.items[number], 0, size); }
#endif
#include "Inputs/two-sections.h"
// CHECK: edge first second
