/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A binary heap of pointers with priorities; the highest comes first, equal ones in an order that
 * depends only on the calls before. Logarithmic time.
 *
 * Entries 0 .. size - 1 are in use; no entry has a higher priority than its parent, (i - 1) / 2.
 */
#pragma once

#include "lib/section.h"

#include <stddef.h>
#include <stdint.h>

struct heap_entry {
  uint64_t priority;
  void *element;
};

struct heap {
  struct heap_entry *entries;
  size_t size;
  size_t capacity;
};

/* Outside of sections. `capacity`: elements that fit before it grows, at least 1. */
void heap_initialise(struct heap *heap, size_t capacity);
void heap_destroy(struct heap *heap);

SAFE void heap_push(struct heap *heap, uint64_t priority, void *element);

/* The element of highest priority, removed; null if there is none. */
SAFE void *heap_pop(struct heap *heap);
