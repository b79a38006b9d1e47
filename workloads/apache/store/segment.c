/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "segment.h"

#include <stdbool.h>
#include <stdint.h>

/* A block: its size and that of the block before it, then what is in it. Sizes are multiples of
 * 16, so that their lowest bit says whether the block is free. The list pointers are those of free
 * blocks only. */
struct block {
  size_t before; /* 0: the first one */
  size_t size;   /* of all of it, | kFree */
  struct block *next, *previous;
};
enum { kFree = 1, kHeader = SEGMENT_BLOCK_BYTES, kLeast = sizeof(struct block), kLists = 64 * 8 };
_Static_assert(kHeader == 16 && kLeast == 32, "blocks are aligned to 16");

struct segment {
  char *end;
  size_t available;
  uint64_t words;           /* bit w: bits[w] is not 0 */
  uint8_t bits[kLists / 8]; /* bit i: lists[i] has a block */
  struct block *lists[kLists];
  struct block *first;
};

static size_t size_of(const struct block *block) { return block->size & ~(size_t)kFree; }
static struct block *behind(struct block *block) {
  return (struct block *)((char *)block + size_of(block));
}

/* The list of blocks of that size: the power of two, and the eighth of it. */
static unsigned list_of(size_t size) {
  const unsigned power = 63U - (unsigned)__builtin_clzll(size);
  return power * 8 + (unsigned)((size >> (power - 3)) & 7);
}

static void put(struct segment *segment, struct block *block, size_t size) {
  block->size = size | kFree;
  const unsigned list = list_of(size);
  block->previous = NULL;
  block->next = segment->lists[list];
  if (block->next != NULL)
    block->next->previous = block;
  segment->lists[list] = block;
  segment->bits[list / 8] |= (uint8_t)(1U << (list % 8));
  segment->words |= (uint64_t)1 << (list / 8);
  segment->available += size;
  if ((char *)block + size < segment->end)
    behind(block)->before = size;
}

static void take(struct segment *segment, struct block *block) {
  const unsigned list = list_of(size_of(block));
  if (block->next != NULL)
    block->next->previous = block->previous;
  if (block->previous != NULL)
    block->previous->next = block->next;
  else
    segment->lists[list] = block->next;
  if (segment->lists[list] == NULL) {
    segment->bits[list / 8] &= (uint8_t)~(1U << (list % 8));
    if (segment->bits[list / 8] == 0)
      segment->words &= ~((uint64_t)1 << (list / 8));
  }
  segment->available -= size_of(block);
  block->size = size_of(block);
}

struct segment *segment_make(void *memory, size_t bytes) {
  const size_t head = (sizeof(struct segment) + 63) & ~(size_t)63;
  if (bytes < head + 4096)
    return NULL;
  struct segment *segment = memory;
  *segment = (struct segment){.end = NULL};
  const size_t size = (bytes - head) & ~(size_t)15;
  segment->first = (struct block *)((char *)memory + head);
  segment->end = (char *)segment->first + size;
  segment->first->before = 0;
  put(segment, segment->first, size);
  return segment;
}

static size_t block_size(size_t bytes) {
  const size_t size = (bytes + kHeader + 15) & ~(size_t)15;
  return size < kLeast ? (size_t)kLeast : size;
}

/* The first list at or behind `list` that has a block; kLists: none has. */
static unsigned list_from(const struct segment *segment, unsigned list) {
  const unsigned here = segment->bits[list / 8] & (0xffU << (list % 8)) & 0xffU;
  if (here != 0)
    return list / 8 * 8 + (unsigned)__builtin_ctz(here);
  const unsigned word = list / 8 + 1;
  const uint64_t later = word < 64 ? segment->words >> word << word : 0;
  if (later == 0)
    return kLists;
  const unsigned found = (unsigned)__builtin_ctzll(later);
  return found * 8 + (unsigned)__builtin_ctz(segment->bits[found]);
}

/* What is behind the first `size` bytes of a block in use becomes free, where that is a block. */
static void split(struct segment *segment, struct block *block, size_t size) {
  const size_t rest = size_of(block) - size;
  if (rest < kLeast)
    return;
  block->size = size;
  struct block *tail = behind(block);
  tail->before = size;
  tail->size = rest;
  struct block *next = behind(tail);
  size_t whole = rest;
  if ((char *)next < segment->end && (next->size & kFree) != 0) {
    whole += size_of(next);
    take(segment, next);
  }
  put(segment, tail, whole);
}

void *segment_allocate(struct segment *segment, size_t bytes) {
  if (bytes > segment->available)
    return NULL;
  const size_t size = block_size(bytes);
  /* Every block of the next list is large enough; of this list, only its first is looked at. */
  const unsigned own = list_of(size);
  struct block *block = segment->lists[own];
  if (block == NULL || size_of(block) < size) {
    const unsigned list = own + 1 < kLists ? list_from(segment, own + 1) : (unsigned)kLists;
    if (list == kLists)
      return NULL;
    block = segment->lists[list];
  }
  take(segment, block);
  split(segment, block, size);
  return (char *)block + kHeader;
}

void segment_shrink(struct segment *segment, void *memory, size_t bytes) {
  struct block *block = (struct block *)((char *)memory - kHeader);
  const size_t size = block_size(bytes);
  if (size < size_of(block))
    split(segment, block, size);
}

void segment_free(struct segment *segment, void *memory) {
  struct block *block = (struct block *)((char *)memory - kHeader);
  size_t size = size_of(block);
  struct block *next = behind(block);
  if ((char *)next < segment->end && (next->size & kFree) != 0) {
    take(segment, next);
    size += size_of(next);
  }
  if (block->before != 0) {
    struct block *previous = (struct block *)((char *)block - block->before);
    if ((previous->size & kFree) != 0) {
      take(segment, previous);
      size += size_of(previous);
      block = previous;
    }
  }
  put(segment, block, size);
}

size_t segment_available(const struct segment *segment) {
  size_t sum = 0;
  size_t before = 0;
  bool last_free = false;
  for (struct block *block = segment->first; (char *)block < segment->end; block = behind(block)) {
    const bool is_free = (block->size & kFree) != 0;
    if (block->before != before || size_of(block) < kLeast || (is_free && last_free))
      return 0;
    before = size_of(block);
    last_free = is_free;
    sum += is_free ? before : 0;
  }
  return sum == segment->available ? sum : 0;
}
