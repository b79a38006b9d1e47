/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/heap.h"

#include "lib/memory.h"

#include <stdlib.h>

void heap_initialise(struct heap *heap, size_t capacity) {
  *heap = (struct heap){allocate(capacity * sizeof(struct heap_entry)), 0, capacity};
}

void heap_destroy(struct heap *heap) {
  free(heap->entries);
  *heap = (struct heap){NULL, 0, 0};
}

SAFE static void grow(struct heap *heap, size_t size) {
  struct heap_entry *old = heap->entries;
  struct heap_entry *grown = allocate(2 * size * sizeof(struct heap_entry));
  for (size_t i = 0; i < size; i++)
    grown[i] = old[i];
  heap->entries = grown;
  heap->capacity = 2 * size;
  free(old);
}

SAFE void heap_push(struct heap *heap, uint64_t priority, void *element) {
  const size_t size = heap->size;
  if (size == heap->capacity)
    grow(heap, size);
  heap->size = size + 1;
  struct heap_entry *entries = heap->entries;
  size_t at = size;
  while (at > 0) {
    const size_t parent = (at - 1) / 2;
    const struct heap_entry above = entries[parent];
    if (above.priority >= priority)
      break;
    entries[at] = above;
    at = parent;
  }
  entries[at].priority = priority;
  entries[at].element = element;
}

SAFE void *heap_pop(struct heap *heap) {
  size_t size = heap->size;
  if (size == 0)
    return NULL;
  struct heap_entry *entries = heap->entries;
  void *top = entries[0].element;
  heap->size = --size;
  if (size == 0)
    return top;
  const struct heap_entry last = entries[size];
  size_t at = 0;
  for (size_t child = 1; child < size; child = 2 * at + 1) {
    uint64_t priority = entries[child].priority;
    if (child + 1 < size) {
      const uint64_t other = entries[child + 1].priority;
      if (other > priority) {
        priority = other;
        child++;
      }
    }
    if (priority <= last.priority)
      break;
    entries[at].priority = priority;
    entries[at].element = entries[child].element;
    at = child;
  }
  entries[at] = last;
  return top;
}
