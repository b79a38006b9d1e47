/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/queue.h"

#include "lib/memory.h"

#include <stdlib.h>

void queue_initialise(struct queue *queue, size_t capacity) {
  uint64_t size = 1;
  while (size < capacity)
    size *= 2;
  *queue = (struct queue){.elements = allocate(size * sizeof(void *)), .capacity = size};
}

void queue_destroy(struct queue *queue) {
  free(queue->elements);
  *queue = (struct queue){.elements = NULL};
}

SAFE static void grow(struct queue *queue, uint64_t begin, uint64_t end) {
  const uint64_t capacity = queue->capacity;
  void **old = queue->elements;
  void **grown = allocate(2 * capacity * sizeof(void *));
  for (uint64_t i = begin; i != end; i++)
    grown[i & (2 * capacity - 1)] = old[i & (capacity - 1)];
  queue->elements = grown;
  queue->capacity = 2 * capacity;
  free(old);
}

SAFE void queue_push(struct queue *queue, void *element) {
  const uint64_t begin = queue->begin;
  const uint64_t end = queue->end;
  if (end - begin == queue->capacity)
    grow(queue, begin, end);
  queue->elements[end & (queue->capacity - 1)] = element;
  queue->end = end + 1;
}

SAFE void *queue_pop(struct queue *queue) {
  const uint64_t begin = queue->begin;
  if (begin == queue->end)
    return NULL;
  void *element = queue->elements[begin & (queue->capacity - 1)];
  queue->begin = begin + 1;
  return element;
}
