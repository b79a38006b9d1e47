/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A heap of pointers with priorities; the highest comes first, equal ones in an order that
 * depends only on the calls before. Logarithmic time.
 *
 * Entries have four children each, which share a cache line: from the root at HEAP_ROOT on, those
 * of entry i are 4 (i - 2) .. 4 (i - 2) + 3. The `size` entries from the root on are in use; none
 * has a higher priority than its parent.
 */
#pragma once

#include "lib/section.h"

#include <stddef.h>
#include <stdint.h>

enum { HEAP_CHILDREN = 4, HEAP_ROOT = HEAP_CHILDREN - 1 };

struct heap_entry {
  uint64_t priority;
  void *element;
};

struct heap {
  struct heap_entry *entries; /* at a multiple of a cache line in `memory` */
  size_t size;
  size_t capacity;
  void *memory;
};

/* Outside of sections. `capacity`: elements that fit before it grows, at least 1. */
void heap_initialise(struct heap *heap, size_t capacity);
void heap_destroy(struct heap *heap);

SAFE void heap_push(struct heap *heap, uint64_t priority, void *element);

/* The element of highest priority, removed; null if there is none. */
SAFE void *heap_pop(struct heap *heap);
