/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Genome assembly: rebuilds a gene from many overlapping segments of it, all of one length.
 *
 * 1. Segments that occur more than once are dropped: all go into a hash set.
 * 2. For every length of overlap, from the longest down, a segment's end is matched with another's
 *    beginning. Both are found by Rabin and Karp's rolling hash.
 * 3. The chain of matches is the gene.
 *
 * The input makes the result unique: no two places of the gene have the same LEAST-long substring,
 * and neighbouring segments overlap by at least that much. So the result must equal the gene.
 */
#include "genome/gene.h"
#include "lib/harness.h"
#include "lib/map.h"
#include "lib/memory.h"

#include <stdlib.h>
#include <string.h>

enum {
  CHUNK = 12, /* segments that one section puts into the set */
  AHEAD = 4   /* fragments whose buckets are fetched before their sections begin */
};

/* A segment that is in the gene, once. `next` and `overlap` are written by the thread that it
 * belongs to, in sections; `matched` by any. */
struct fragment {
  struct segment segment;
  struct fragment *next;
  uint64_t end_hash; /* of its last symbols, as many as the overlap now looked for; the owner's */
  unsigned overlap;  /* with next */
  bool matched;      /* it is some other fragment's next */
};

/* A set of segments. Those of a bucket are in the bucket's cache line, so that a look costs one
 * miss, at an address that is known before the section; what does not fit is in lines behind it. */
enum { HELD = 3 };

struct segment_line {
  uint64_t count; /* of those held */
  struct segment_line *more;
  struct segment held[HELD];
};

struct segment_set {
  struct segment_line *buckets;
  uint64_t mask; /* buckets - 1; buckets are a power of two */
};

static struct gene gene;
static struct segment_set unique;
static struct map *beginnings; /* of struct fragment, by the hash of the beginning; per length */
static struct fragment *fragments;
static uint64_t counts[STAMP_MOST_THREADS + 1]; /* fragments of each thread, then before it */
static struct segment rebuilt_last;
static uint8_t *rebuilt;
static uint64_t rebuilt_length;

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const struct gene_parameters parameters[STAMP_SIZES] = {
      {.length = 4096, .segment = 32, .segments = 1u << 17},
      {.length = 131072, .segment = 64, .segments = 10u << 20},
      {.length = 524288, .segment = 64, .segments = 40u << 20},
      {.length = 1048576, .segment = 64, .segments = 100u << 20},
  };
  (void)input;
  gene_make(&gene, &parameters[size], seed);
  uint64_t buckets = 1;
  while (HELD * buckets < 2 * gene.length)
    buckets *= 2;
  unique = (struct segment_set){allocate_table(buckets, sizeof *unique.buckets), buckets - 1};
  beginnings = allocate_table(gene.segment, sizeof *beginnings);
  for (unsigned i = gene.least; i < gene.segment; i++)
    map_initialise(&beginnings[i], gene.length);
  fragments = allocate_table(gene.length, sizeof *fragments);
  rebuilt = allocate_table(gene.length + gene.segment, 1);
}

SAFE static inline struct segment_line *words_bucket(const struct segment_set *set, uint64_t low,
                                                     uint64_t high) {
  return &set->buckets[words_hash(low, high) & set->mask];
}

/* Words, not the structure: gcc reads structures that are arguments without barriers. */
SAFE static inline bool line_has(const struct segment_line *line, uint64_t low, uint64_t high) {
  for (uint64_t i = 0; i < line->count; i++)
    if (line->held[i].words[0] == low && line->held[i].words[1] == high)
      return true;
  return false;
}

/* `line` is the last one of its bucket. */
SAFE static inline void add_words(struct segment_line *line, uint64_t low, uint64_t high) {
  uint64_t count = line->count;
  if (count == HELD) {
    struct segment_line *more = allocate(sizeof *more);
    more->more = NULL;
    line->more = more;
    line = more;
    count = 0;
  }
  line->held[count].words[0] = low;
  line->held[count].words[1] = high;
  line->count = count + 1;
}

/* Puts segments into the set, unless they are there. */
static SECTION_FUNCTION void insert_segments(struct segment_set *set,
                                             const struct segment *segments, uint64_t count) {
  SECTION {
    ATTEMPT();
    for (uint64_t i = 0; i < count; i++) {
      const uint64_t low = segments[i].words[0];
      const uint64_t high = segments[i].words[1];
      struct segment_line *line = words_bucket(set, low, high);
      bool found = line_has(line, low, high);
      while (!found && line->more != NULL) {
        line = line->more;
        found = line_has(line, low, high);
      }
      if (!found)
        add_words(line, low, high);
    }
  }
}

/* Makes a fragment's beginning known. */
static SECTION_FUNCTION void insert_beginning(struct map *map, uint64_t hash,
                                              struct fragment *fragment) {
  SECTION {
    ATTEMPT();
    map_insert(map, hash, fragment);
  }
}

/* Links a fragment with one that begins as it ends, if there is one that is free. */
static SECTION_FUNCTION void link_fragment(const struct map *map, struct fragment *fragment,
                                           unsigned length, unsigned overlap) {
  SECTION {
    ATTEMPT();
    const uint64_t hash = fragment->end_hash;
    const segment_bits end = segment_end(fragment->segment, length, overlap);
    for (struct map_entry *entry = map_chain(map, hash); entry != NULL; entry = entry->next) {
      if (entry->hash != hash)
        continue;
      struct fragment *other = entry->value;
      if (other->matched || other == fragment || segment_begin(other->segment, overlap) != end)
        continue;
      other->matched = true;
      fragment->next = other;
      fragment->overlap = overlap;
      break;
    }
  }
}

/* Fetches the buckets of segments. */
static void fetch_buckets(const struct segment_set *set, const struct segment *segments,
                          uint64_t count) {
  for (uint64_t i = 0; i < count; i++)
    __builtin_prefetch(words_bucket(set, segments[i].words[0], segments[i].words[1]));
}

static void drop_duplicates(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, gene.segment_count);
  for (uint64_t i = part.begin; i < part.end; i += CHUNK) {
    const uint64_t left = part.end - i;
    const uint64_t after = left < CHUNK ? 0 : left - CHUNK;
    fetch_buckets(&unique, &gene.segments[i + CHUNK], after < CHUNK ? after : CHUNK);
    insert_segments(&unique, &gene.segments[i], left < CHUNK ? left : CHUNK);
    self->sections++;
  }
}

/* Makes fragments of the set; each thread of its part of the buckets. */
static struct stamp_range collect_fragments(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, unique.mask + 1);
  uint64_t count = 0;
  for (uint64_t i = part.begin; i < part.end; i++)
    for (const struct segment_line *line = &unique.buckets[i]; line != NULL; line = line->more)
      count += line->count;
  counts[self->index + 1] = count;
  stamp_barrier();
  uint64_t before = 0;
  for (unsigned i = 0; i <= self->index; i++)
    before += counts[i];
  struct stamp_range mine = {before, before};
  for (uint64_t i = part.begin; i < part.end; i++)
    for (const struct segment_line *line = &unique.buckets[i]; line != NULL; line = line->more)
      for (uint64_t j = 0; j < line->count; j++)
        fragments[mine.end++].segment = line->held[j];
  return mine;
}

/* The hashes of a fragment's beginnings, by length, rolled; their buckets are fetched meanwhile. */
static void hash_beginnings(struct fragment *fragment, uint64_t *hashes) {
  uint64_t hash = rolling_hash(fragment->segment, gene.segment);
  fragment->end_hash = hash;
  for (unsigned length = gene.segment - 1; length >= gene.least; length--) {
    hash = rolling_without_last(hash, segment_symbol(fragment->segment, length));
    hashes[length] = hash;
    __builtin_prefetch(map_bucket(&beginnings[length], hash), 1);
  }
}

/* Enters the beginnings of all lengths of each fragment. */
static void enter_beginnings(struct stamp_thread *self, struct stamp_range mine) {
  uint64_t hashes[LONGEST_SEGMENT];
  for (uint64_t i = mine.begin; i < mine.end; i++) {
    struct fragment *fragment = &fragments[i];
    hash_beginnings(fragment, hashes);
    for (unsigned length = gene.segment - 1; length >= gene.least; length--) {
      insert_beginning(&beginnings[length], hashes[length], fragment);
      self->sections++;
    }
  }
}

/* Rolls the hash of a fragment's end to `overlap` symbols, and fetches the bucket. `weight` is that
 * of the symbol before them. */
static void roll_end(struct fragment *fragment, unsigned overlap, uint64_t weight) {
  const unsigned dropped = segment_symbol(fragment->segment, gene.segment - overlap - 1);
  fragment->end_hash = rolling_without_first(fragment->end_hash, dropped, weight);
  __builtin_prefetch(map_bucket(&beginnings[overlap], fragment->end_hash));
}

static void link_fragments(struct stamp_thread *self, struct stamp_range mine) {
  for (unsigned overlap = gene.segment - 1; overlap >= gene.least; overlap--) {
    const uint64_t weight = rolling_power(overlap);
    uint64_t rolled = mine.begin;
    for (uint64_t i = mine.begin; i < mine.end; i++) {
      for (; rolled < mine.end && rolled <= i + AHEAD; rolled++)
        if (fragments[rolled].next == NULL)
          roll_end(&fragments[rolled], overlap, weight);
      struct fragment *fragment = &fragments[i];
      if (fragment->next != NULL)
        continue;
      link_fragment(&beginnings[overlap], fragment, gene.segment, overlap);
      self->sections++;
    }
    stamp_barrier();
  }
}

/* Follows the chain. One thread. */
static void rebuild(uint64_t fragment_count) {
  const struct fragment *first = NULL;
  for (uint64_t i = 0; i < fragment_count && first == NULL; i++)
    if (!fragments[i].matched)
      first = &fragments[i];
  unsigned overlap = 0;
  for (const struct fragment *at = first; at != NULL; at = at->next) {
    for (unsigned i = overlap; i < gene.segment && rebuilt_length < gene.length + 1; i++)
      rebuilt[rebuilt_length++] = (uint8_t)segment_symbol(at->segment, i);
    overlap = at->overlap;
    rebuilt_last = at->segment;
  }
}

static void run(struct stamp_thread *self) {
  drop_duplicates(self);
  stamp_barrier();
  const struct stamp_range mine = collect_fragments(self);
  enter_beginnings(self, mine);
  stamp_barrier();
  link_fragments(self, mine);
  if (self->index == 0) {
    uint64_t all = 0;
    for (unsigned i = 1; i <= stamp_threads(); i++)
      all += counts[i];
    rebuild(all);
  }
}

static bool verify(void) {
  uint64_t found = 0;
  for (unsigned i = 1; i <= stamp_threads(); i++)
    found += counts[i];
  if (found != gene.distinct)
    return stamp_wrong("%llu different segments found, but there are %llu",
                       (unsigned long long)found, (unsigned long long)gene.distinct);
  if (rebuilt_length != gene.length)
    return stamp_wrong("the rebuilt gene has %llu symbols, not %llu",
                       (unsigned long long)rebuilt_length, (unsigned long long)gene.length);
  for (uint64_t i = 0; i < gene.length; i++)
    if (rebuilt[i] != gene.symbols[i])
      return stamp_wrong("the rebuilt gene differs at symbol %llu", (unsigned long long)i);
  for (uint64_t i = 0; i < gene.length; i++)
    stamp_checksum(i * 4 + rebuilt[i]);
  stamp_report("segments", (double)gene.segment_count);
  stamp_report("distinct", (double)found);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "genome",
    .summary = "rebuilds a gene from overlapping segments",
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
