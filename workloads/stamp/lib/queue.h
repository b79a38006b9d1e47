/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A queue of pointers, first in, first out, in a ring that grows.
 *
 * begin and end only grow; their difference is the number of elements, at most capacity, a power of
 * two; element i is at elements[i % capacity].
 */
#pragma once

#include "lib/section.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The two ends are on lines of their own: who takes does not disturb who puts. */
struct queue {
  _Alignas(128) uint64_t begin;
  _Alignas(128) uint64_t end;
  _Alignas(128) void **elements;
  uint64_t capacity;
};

/* Outside of sections. `capacity`: elements that fit before it grows, at least 1. */
void queue_initialise(struct queue *queue, size_t capacity);
void queue_destroy(struct queue *queue);

SAFE void queue_push(struct queue *queue, void *element);

/* The oldest element, removed; null if there is none. */
SAFE void *queue_pop(struct queue *queue);
