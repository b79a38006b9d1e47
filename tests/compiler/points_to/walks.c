// Pointers that walk over the bytes and words of a record, into an array in it and out of it again, or from one that the record
// begins with; indices of bytes of such a record; and indices of type long,
// ptrdiff_t and size_t that are below 0, in memory of which the text gives no array.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = bytes
// RUN: %{check}
// REDEFINE: %{kind} = short_way
// RUN: %{check}
// REDEFINE: %{kind} = words
// RUN: %{check}
// REDEFINE: %{kind} = of_array
// RUN: %{check}
// REDEFINE: %{kind} = hash
// RUN: %{check}
// REDEFINE: %{kind} = from_array
// RUN: %{check}
// REDEFINE: %{kind} = record_byte
// RUN: %{check}
// REDEFINE: %{kind} = vector
// RUN: %{check}
// REDEFINE: %{kind} = index
// RUN: %{check}
// REDEFINE: %{kind} = byte_index
// RUN: %{check}
// REDEFINE: %{kind} = parameter
// RUN: %{check}
// REDEFINE: %{kind} = wrapped
// RUN: %{check}
// REDEFINE: %{kind} = loop
// RUN: %{check}
#include <stddef.h>
#include <stdlib.h>
struct record {
  long first;
  char bytes[16];
  long words[2];
  long last;
};
static struct record records[3];
static volatile int number;
struct pair {
  long first, second;
};
static struct pair *block, *place;
static volatile long below = -2;
__attribute__((noinline)) static struct pair *moved(struct pair *from, ptrdiff_t by) { return from + by; }
static void make(void) {
  block = calloc(20, sizeof *block);
  place = block + 2;
  for (int i = 0; i < number; ++i) {
    records[0].bytes[i] = 1;
    records[0].words[i] = 1;
  }
}
#if defined(KIND_bytes)
static void one(void) { records[0].last = 1; }
static void two(void) {
  char *at = (char *)&records[0];
  for (int i = 0; i < number; ++i)
    ++at;
  *at = 2;
}
#elif defined(KIND_short_way)
static void one(void) { records[0].last = 1; }
static void two(void) {
  char *at = (char *)&records[0] + 7;
  for (int i = 0; i < number; ++i)
    ++at;
  *at = 2;
}
#elif defined(KIND_words)
static void one(void) { records[0].last = 1; }
static void two(void) {
  long *at = (long *)&records[0];
  for (int i = 0; i < number; ++i)
    ++at;
  *at = 2;
}
#elif defined(KIND_of_array)
static void one(void) { records[1].last = 1; }
static void two(void) {
  for (unsigned char *at = (unsigned char *)&records[1], *end = at + sizeof *records; at < end; ++at)
    *at ^= 1;
}
#elif defined(KIND_hash) || defined(KIND_from_array) || defined(KIND_record_byte) || defined(KIND_vector)
struct key {
  unsigned char address[16];
  unsigned short port;
};
static struct key key;
static void *keys;
static volatile size_t size = sizeof(struct key);
static volatile unsigned long sum;
static void fill(void) {
  key.address[number] = 1;
  keys = calloc(10, sizeof key);
  ((struct key *)keys)->address[number] = 1;
}
#if defined(KIND_vector)
static void one(void) { ((struct key *)keys)[3].port = 1; }
static void two(void) { ((struct key *)((char *)keys + number * size))->port = 2; }
#else
static void one(void) { key.port = 1; }
#if defined(KIND_hash)
static unsigned long hash(const void *data, size_t length) {
  unsigned long hashed = 5381;
  for (const unsigned char *at = data; length > 0; --length)
    hashed = hashed * 33 + *at++;
  return hashed;
}
static void two(void) { sum = hash(&key, sizeof key); }
#elif defined(KIND_from_array)
static void two(void) {
  char *at = (char *)&key;
  for (int i = 0; i < number; ++i)
    ++at;
  *at = 2;
}
#else
static void two(void) { ((unsigned char *)&key)[number] ^= 1; }
#endif
#endif
#else
static void one(void) { block[0].second = 1; }
#if defined(KIND_index)
static void two(void) { place[below].second = 2; }
#elif defined(KIND_byte_index)
static void two(void) { ((struct pair *)((char *)place + below * (long)sizeof *place))->second = 2; }
#elif defined(KIND_parameter)
static void two(void) { moved(place, below)->second = 2; }
#elif defined(KIND_wrapped)
static void two(void) { place[(size_t)below].second = 2; }
#else
static void two(void) {
  for (long i = below; i < 0; ++i)
    place[i].second = 2;
}
#endif
#endif
#if defined(KIND_hash) || defined(KIND_from_array) || defined(KIND_record_byte) || defined(KIND_vector)
#define PREPARE() (make(), fill())
#endif
#include "Inputs/two-sections.h"
// CHECK: edge first second
