/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Graph construction, kernel 1 of the Scalable Synthetic Compact Applications 2: from a list of
 * edges in random order to arrays of the edges that leave each vertex, without parallel edges (the
 * lightest stays), and of those that enter it.
 *
 * Threads sort the edges by the vertex that they leave, each its part of the vertices: no section
 * is needed. The edges that enter a vertex are found by any thread, so counting and placing them
 * are sections: two short ones for each edge.
 *
 * Both arrays must be those of a graph that is built by sorting.
 */
#include "lib/harness.h"
#include "lib/memory.h"
#include "ssca2/edges.h"

#include <stdlib.h>
#include <string.h>

enum {
  BUCKETS = 1024,
  AHEAD = 16 /* edges whose vertices are fetched before their sections begin */
};

/* Edges that enter a vertex: `filled` of them are at places[begin] and after. */
struct entry {
  uint32_t count;
  uint32_t filled;
  uint64_t begin;
};

/* A thread's part of the edges that leave vertices, sorted, without duplicates. */
struct leaving {
  _Alignas(128) uint64_t begin, end; /* in `sorted` */
  uint64_t entering;                 /* edges that enter its vertices */
};

static struct edges edges;
static struct edge *sorted;
static struct entry *entries; /* by vertex */
static uint32_t *places;      /* the vertices that edges come from */
static uint64_t histogram[STAMP_MOST_THREADS][BUCKETS];
static struct leaving leaving[STAMP_MOST_THREADS];
static unsigned bucket_shift;

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const unsigned scales[STAMP_SIZES] = {14, 21, 23, 24};
  (void)input;
  edges_make(&edges, scales[size], seed);
  sorted = allocate_table(edges.count, sizeof(struct edge));
  entries = allocate_table(edges.vertices, sizeof(struct entry));
  places = allocate_table(edges.count, sizeof(uint32_t));
  bucket_shift = scales[size] - 10;
}

/* Copies the edges into buckets of neighbouring vertices; those of one thread in their order. */
static void fill_buckets(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, edges.count);
  uint64_t *mine = histogram[self->index];
  for (uint64_t i = part.begin; i < part.end; i++)
    mine[edges.all[i].from >> bucket_shift]++;
  stamp_barrier();
  if (self->index == 0) {
    uint64_t before = 0;
    for (unsigned bucket = 0; bucket < BUCKETS; bucket++)
      for (unsigned i = 0; i < stamp_threads(); i++) {
        const uint64_t count = histogram[i][bucket];
        histogram[i][bucket] = before;
        before += count;
      }
  }
  stamp_barrier();
  for (uint64_t i = part.begin; i < part.end; i++)
    sorted[mine[edges.all[i].from >> bucket_shift]++] = edges.all[i];
  stamp_barrier(); /* histogram: now the ends of the threads' shares of the buckets */
}

static uint64_t bucket_end(uint64_t bucket) { return histogram[stamp_threads() - 1][bucket]; }

/* Whether `a` comes before `b`, both from one vertex. */
static bool before(const struct edge *a, const struct edge *b) {
  return a->to != b->to ? a->to < b->to : a->weight < b->weight;
}

/* Sorts a bucket, by its vertices first, which are few; result: its end without duplicates, which
 * start at `to`. */
static uint64_t sort_bucket(uint64_t begin, uint64_t end, uint64_t to, struct edge *buffer) {
  uint64_t *starts = allocate_table(((size_t)1 << bucket_shift) + 1, sizeof(uint64_t));
  const uint32_t mask = ((uint32_t)1 << bucket_shift) - 1;
  for (uint64_t i = begin; i < end; i++)
    starts[(sorted[i].from & mask) + 1]++;
  for (uint32_t i = 0; i <= mask; i++)
    starts[i + 1] += starts[i];
  for (uint64_t i = begin; i < end; i++)
    buffer[starts[sorted[i].from & mask]++] = sorted[i];
  free(starts);
  /* By insertion: a vertex has few edges. */
  for (uint64_t i = 1; i < end - begin; i++) {
    const struct edge edge = buffer[i];
    uint64_t at = i;
    for (; at > 0 && buffer[at - 1].from == edge.from && before(&edge, &buffer[at - 1]); at--)
      buffer[at] = buffer[at - 1];
    buffer[at] = edge;
  }
  for (uint64_t i = 0; i < end - begin; i++) {
    const struct edge edge = buffer[i];
    if (i == 0 || edge.from != buffer[i - 1].from || edge.to != buffer[i - 1].to)
      sorted[to++] = edge;
  }
  return to;
}

static void sort_buckets(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, BUCKETS);
  struct leaving *mine = &leaving[self->index];
  uint64_t begin = part.begin == 0 ? 0 : bucket_end(part.begin - 1);
  mine->begin = mine->end = begin;
  uint64_t largest = 0;
  for (uint64_t bucket = part.begin, at = begin; bucket < part.end; at = bucket_end(bucket++))
    if (bucket_end(bucket) - at > largest)
      largest = bucket_end(bucket) - at;
  struct edge *buffer = allocate((largest + 1) * sizeof(struct edge));
  for (uint64_t bucket = part.begin; bucket < part.end; bucket++) {
    const uint64_t end = bucket_end(bucket);
    mine->end = sort_bucket(begin, end, mine->end, buffer);
    begin = end;
  }
  free(buffer);
}

static SECTION_FUNCTION void count_entering(struct entry *entry) {
  SECTION {
    ATTEMPT();
    entry->count++;
  }
}

static SECTION_FUNCTION void place_entering(struct entry *entry, uint32_t *all, uint32_t from) {
  SECTION {
    ATTEMPT();
    const uint32_t filled = entry->filled;
    all[entry->begin + filled] = from;
    entry->filled = filled + 1;
  }
}

/* Where the edges that enter each vertex of a thread's part begin. */
static void lay_out(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, edges.vertices);
  uint64_t sum = 0;
  for (uint64_t i = part.begin; i < part.end; i++)
    sum += entries[i].count;
  leaving[self->index].entering = sum;
  stamp_barrier();
  uint64_t before = 0;
  for (unsigned i = 0; i < self->index; i++)
    before += leaving[i].entering;
  for (uint64_t i = part.begin; i < part.end; i++) {
    entries[i].begin = before;
    before += entries[i].count;
  }
}

static void run(struct stamp_thread *self) {
  fill_buckets(self);
  sort_buckets(self);
  stamp_barrier();
  const struct leaving mine = leaving[self->index];
  for (uint64_t i = mine.begin; i < mine.end; i++) {
    const uint64_t far = i + AHEAD < mine.end ? i + AHEAD : i;
    __builtin_prefetch(&entries[sorted[far].to], 1);
    count_entering(&entries[sorted[i].to]);
  }
  stamp_barrier();
  lay_out(self);
  stamp_barrier();
  for (uint64_t i = mine.begin; i < mine.end; i++) {
    const uint64_t far = i + 2 * AHEAD < mine.end ? i + 2 * AHEAD : i;
    const uint64_t near = i + AHEAD < mine.end ? i + AHEAD : i;
    __builtin_prefetch(&entries[sorted[far].to], 1);
    /* Nobody writes `begin` any more, and a vertex has few entering edges. */
    __builtin_prefetch(&places[entries[sorted[near].to].begin], 1);
    place_entering(&entries[sorted[i].to], places, sorted[i].from);
  }
  self->sections += 2 * (mine.end - mine.begin);
}

static int compare_vertices(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a;
  const uint32_t y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* An edge as a number: those of a vertex are neighbours, the lightest of parallel ones is first. */
static uint64_t key_of(uint32_t from, uint32_t to, uint32_t weight) {
  return (uint64_t)from << 36 | (uint64_t)to << 8 | weight;
}
static uint32_t key_from(uint64_t key) { return (uint32_t)(key >> 36); }
static uint32_t key_to(uint64_t key) { return (uint32_t)(key >> 8) & 0xfffffff; }

/* By radix, byte by byte from the lowest. */
static void sort_keys(uint64_t *keys, uint64_t count) {
  uint64_t *buffer = allocate((count + 1) * sizeof *buffer);
  for (unsigned shift = 0; shift < 64; shift += 8) {
    uint64_t starts[257] = {0};
    for (uint64_t i = 0; i < count; i++)
      starts[(keys[i] >> shift & 255) + 1]++;
    for (unsigned i = 0; i < 256; i++)
      starts[i + 1] += starts[i];
    for (uint64_t i = 0; i < count; i++)
      buffer[starts[keys[i] >> shift & 255]++] = keys[i];
    memcpy(keys, buffer, count * sizeof *keys);
  }
  free(buffer);
}

/* Removes all but the first of parallel edges; how many are left. */
static uint64_t drop_parallel(uint64_t *keys, uint64_t count) {
  uint64_t kept = 0;
  for (uint64_t i = 0; i < count; i++)
    if (kept == 0 || keys[i] >> 8 != keys[kept - 1] >> 8)
      keys[kept++] = keys[i];
  return kept;
}

static bool verify_leaving(const uint64_t *expected, uint64_t count) {
  uint64_t at = 0;
  for (unsigned thread = 0; thread < stamp_threads(); thread++)
    for (uint64_t i = leaving[thread].begin; i < leaving[thread].end; i++, at++) {
      const uint64_t key = key_of(sorted[i].from, sorted[i].to, sorted[i].weight);
      if (at == count || key != expected[at])
        return stamp_wrong("edge %llu that leaves a vertex is %u to %u", (unsigned long long)at,
                           sorted[i].from, sorted[i].to);
      stamp_checksum(key);
    }
  return at == count ||
         stamp_wrong("%llu edges, not %llu", (unsigned long long)at, (unsigned long long)count);
}

/* `expected` turned around, in order, is what enters the vertices, each one's in any order. */
static bool verify_entering(uint64_t *expected, uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    expected[i] = key_of(key_to(expected[i]), key_from(expected[i]), 0);
  sort_keys(expected, count);
  uint64_t at = 0;
  for (uint32_t vertex = 0; vertex < edges.vertices; vertex++) {
    const struct entry *entry = &entries[vertex];
    if (entry->filled != entry->count || entry->begin != at || at + entry->count > count)
      return stamp_wrong("vertex %u has %u places for entering edges, and %u edges", vertex,
                         entry->count, entry->filled);
    qsort(places + at, entry->count, sizeof *places, compare_vertices);
    for (uint32_t i = 0; i < entry->count; i++, at++)
      if (expected[at] != key_of(vertex, places[at], 0))
        return stamp_wrong("vertex %u has an entering edge from %u that does not exist", vertex,
                           places[at]);
  }
  return at == count || stamp_wrong("edges that enter vertices are missing");
}

static bool verify(void) {
  uint64_t *expected = allocate((edges.count + 1) * sizeof *expected);
  for (uint64_t i = 0; i < edges.count; i++)
    expected[i] = key_of(edges.all[i].from, edges.all[i].to, edges.all[i].weight);
  sort_keys(expected, edges.count);
  const uint64_t count = drop_parallel(expected, edges.count);
  const bool right = verify_leaving(expected, count) && verify_entering(expected, count);
  free(expected);
  stamp_report("edges", (double)edges.count);
  stamp_report("distinct", (double)count);
  return right;
}

const struct stamp_application stamp_application = {
    .name = "ssca2",
    .summary = "builds the arrays of a graph from its edges",
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
