/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/vector.h"

#include "lib/memory.h"

#include <stdlib.h>

void vector_initialise(struct vector *vector, size_t capacity) {
  *vector = (struct vector){allocate(capacity * sizeof(void *)), 0, capacity};
}

void vector_destroy(struct vector *vector) {
  free(vector->elements);
  *vector = (struct vector){NULL, 0, 0};
}

SAFE void vector_push(struct vector *vector, void *element) {
  const size_t size = vector->size;
  if (size == vector->capacity) {
    void **old = vector->elements;
    void **grown = allocate(2 * size * sizeof(void *));
    for (size_t i = 0; i < size; i++)
      grown[i] = old[i];
    vector->elements = grown;
    vector->capacity = 2 * size;
    free(old);
  }
  vector->elements[size] = element;
  vector->size = size + 1;
}
