/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/heap.h"

#include "lib/memory.h"

#include <stdlib.h>

enum { LINE = HEAP_CHILDREN * sizeof(struct heap_entry) };

SAFE static void *memory_for(size_t capacity) {
  return allocate((HEAP_ROOT + capacity) * sizeof(struct heap_entry) + LINE - 1);
}

SAFE static struct heap_entry *entries_in(void *memory) {
  const uintptr_t past = (uintptr_t)memory % LINE;
  return (struct heap_entry *)(void *)((char *)memory + (past == 0 ? 0 : LINE - past));
}

void heap_initialise(struct heap *heap, size_t capacity) {
  void *memory = memory_for(capacity);
  *heap = (struct heap){entries_in(memory), 0, capacity, memory};
}

void heap_destroy(struct heap *heap) {
  free(heap->memory);
  *heap = (struct heap){NULL, 0, 0, NULL};
}

SAFE static void grow(struct heap *heap, size_t size) {
  void *old = heap->memory;
  const struct heap_entry *entries = heap->entries;
  void *memory = memory_for(2 * size);
  struct heap_entry *grown = entries_in(memory);
  for (size_t i = HEAP_ROOT; i < HEAP_ROOT + size; i++)
    grown[i] = entries[i];
  heap->memory = memory;
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
  size_t at = HEAP_ROOT + size;
  while (at > HEAP_ROOT) {
    const size_t parent = at / HEAP_CHILDREN + HEAP_ROOT - 1;
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
  void *top = entries[HEAP_ROOT].element;
  heap->size = --size;
  if (size == 0)
    return top;
  const size_t end = HEAP_ROOT + size;
  const struct heap_entry last = entries[end];
  size_t at = HEAP_ROOT;
  for (size_t first; (first = HEAP_CHILDREN * (at - HEAP_ROOT + 1)) < end;) {
    /* The children's children, a line each, come while the children are compared. */
    const size_t below = HEAP_CHILDREN * (first - HEAP_ROOT + 1);
    if (below + HEAP_CHILDREN * HEAP_CHILDREN <= end)
      for (size_t i = 0; i < HEAP_CHILDREN; i++)
        __builtin_prefetch(&entries[below + i * HEAP_CHILDREN]);
    size_t highest = first;
    uint64_t priority = entries[first].priority;
    for (size_t child = first + 1; child < first + HEAP_CHILDREN && child < end; child++) {
      const uint64_t other = entries[child].priority;
      if (other > priority) {
        priority = other;
        highest = child;
      }
    }
    if (priority <= last.priority)
      break;
    entries[at].priority = priority;
    entries[at].element = entries[highest].element;
    at = highest;
  }
  entries[at] = last;
  return top;
}
