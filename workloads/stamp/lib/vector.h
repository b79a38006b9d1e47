/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A growing array of pointers. size <= capacity.
 */
#pragma once

#include "lib/section.h"

#include <stddef.h>

struct vector {
  void **elements;
  size_t size;
  size_t capacity;
};

/* Outside of sections. `capacity`: elements that fit before it grows, at least 1. */
void vector_initialise(struct vector *vector, size_t capacity);
void vector_destroy(struct vector *vector);

SAFE void vector_push(struct vector *vector, void *element);
