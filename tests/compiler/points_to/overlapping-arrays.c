// Arrays of different length at one place: of records that a tag tells apart, and of a union's members. An index, a pointer that
// goes from element to element, memcpy and memset of unknown length reach the whole of the longer one, whichever was met first.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = characters
// RUN: %{check}
// REDEFINE: %{kind} = records
// RUN: %{check}
// REDEFINE: %{kind} = step
// RUN: %{check}
// REDEFINE: %{kind} = walk
// RUN: %{check}
// REDEFINE: %{kind} = copied
// RUN: %{check}
// REDEFINE: %{kind} = filled
// RUN: %{check}
// REDEFINE: %{kind} = heap
// RUN: %{check}
// REDEFINE: %{kind} = met_later
// RUN: %{check}
// REDEFINE: %{kind} = members
// RUN: %{check}
// REDEFINE: %{kind} = address
// RUN: %{check}
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = folded
// RUN: %{check}
// REDEFINE: %{kind} = folded_bytes
// RUN: %{check}
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/un.h>
static volatile int number;
static volatile size_t size;
#if defined(KIND_folded) || defined(KIND_folded_bytes)
#define IS_FOLDED
#endif
#if defined(KIND_members) || defined(KIND_address) || defined(KIND_halves) || defined(IS_FOLDED)
#if defined(KIND_members)
struct pair {
  long first, second;
};
static union {
  struct {
    long before[4], elements[4];
  } split;
  struct pair pairs[4];
} all;
static void make(void) { all.split.before[number] = 1; }
static void one(void) { all.pairs[2].first = 1; }
static void two(void) { all.pairs[number].first = 2; }
#elif defined(KIND_address)
static union {
  struct sockaddr any;
  struct sockaddr_un local;
} all;
static void make(void) { all.any.sa_data[number] = 1; }
static void one(void) { all.local.sun_path[20] = 1; }
static void two(void) { all.local.sun_path[number] = 2; }
#elif defined(IS_FOLDED) // where the second array begins, the first one has folded
#if defined(KIND_folded_bytes)
typedef char part;
#else
typedef int part;
#endif
struct behind {
  int first, second;
  part parts[32 / sizeof(part)];
};
static union {
  part parts[16 / sizeof(part)];
  struct behind behind;
  struct {
    long before[4];
    int fifth, last;
  } other;
} all;
static struct behind *table[8];
static volatile int five = 5;
static void make(void) {
  all.parts[number] = 1;
  table[5] = &all.behind;
}
static void one(void) { all.other.last = 1; }
static void two(void) { table[five]->parts[number] = 2; }
#else
static union {
  struct {
    char low[8], high[8];
  } halves;
  char whole[16];
} all;
static void make(void) { all.halves.low[number] = 1; }
static void one(void) { all.whole[10] = 1; }
static void two(void) { all.whole[number] = 2; }
#endif
#else
#if defined(KIND_records)
struct element {
  long first, second;
};
#elif defined(KIND_characters) || defined(KIND_filled) || defined(KIND_heap) || defined(KIND_met_later)
typedef char element;
#elif defined(KIND_copied)
typedef long *element;
#else
typedef long element;
#endif
struct named {
  int kind;
#if defined(KIND_records)
  long name[4];
#else
  element name[4];
#endif
};
struct data {
  int kind;
#if defined(KIND_records)
  struct element bytes[8];
#else
  element bytes[64];
#endif
};
static struct named a_name = {.kind = 1};
static struct data some_data = {.kind = 2};
static struct data *data = &some_data;
static void look(void *object) {
  struct named *const named = object;
  if (named->kind == 1)
    memset(&named->name[number], 0, 1);
}
#if defined(KIND_characters)
static void make(void) {}
static void one(void) { data->bytes[20] = 1; }
static void two(void) { data->bytes[number] = 2; }
#elif defined(KIND_records)
static void make(void) {}
static void one(void) { data->bytes[5].second = 1; }
static void two(void) { data->bytes[number].second = 2; }
#elif defined(KIND_step)
static long *place;
static void make(void) { place = data->bytes; }
static void one(void) { data->bytes[20] = 1; }
static void two(void) { place[20] = 2; }
#elif defined(KIND_walk)
static void make(void) {}
static void one(void) { data->bytes[20] = 1; }
static void two(void) {
  long *at = data->bytes;
  for (int i = 0; i < number; ++i)
    ++at;
  *at = 2;
}
#elif defined(KIND_copied)
static long x;
static long *copy[64];
static void make(void) {
  data->bytes[20] = &x;
  memcpy(copy, data->bytes, size);
}
static void one(void) { x = 1; }
static void two(void) { *copy[20] = 2; }
#elif defined(KIND_filled)
static void make(void) {}
static void one(void) { data->bytes[20] = 1; }
static void two(void) { memset(data->bytes, 2, size); }
#elif defined(KIND_heap)
static void make(void) { data = calloc(1, sizeof *data); }
static void one(void) { data->bytes[20] = 1; }
static void two(void) { data->bytes[number] = 2; }
#else
static void change(void *object) { ((struct data *)object)->bytes[number] = 2; }
static void name(void *object) { ((struct named *)object)->name[number] = 2; }
static void (*const volatile functions[])(void *) = {name, change};
static void make(void) { functions[0](data); }
static void one(void) { data->bytes[20] = 1; }
static void two(void) { functions[1](data); }
#endif
#endif
#if defined(KIND_heap)
#define PREPARE() (look(&a_name), look(data), make(), look(data))
#elif !defined(KIND_members) && !defined(KIND_address) && !defined(KIND_halves) && !defined(IS_FOLDED)
#define PREPARE() (look(&a_name), look(data), make())
#endif
#include "Inputs/two-sections.h"
// CHECK: edge first second
