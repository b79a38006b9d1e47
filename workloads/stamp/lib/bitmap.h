/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A set of small numbers, one bit each.
 */
#pragma once

#include "lib/memory.h"
#include "lib/section.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct bitmap {
  uint64_t *words; /* bit i is bit i % 64 of word i / 64 */
  size_t bits;
};

/* Outside of sections. All bits are off. */
static inline void bitmap_initialise(struct bitmap *bitmap, size_t bits) {
  *bitmap = (struct bitmap){allocate_table((bits + 63) / 64, sizeof(uint64_t)), bits};
}

SAFE static inline bool bitmap_has(const struct bitmap *bitmap, size_t bit) {
  return bitmap->words[bit / 64] >> (bit % 64) & 1;
}

/* Turns a bit on. True if it was off. */
SAFE static inline bool bitmap_set(struct bitmap *bitmap, size_t bit) {
  uint64_t *word = &bitmap->words[bit / 64];
  const uint64_t old = *word;
  const uint64_t mask = (uint64_t)1 << (bit % 64);
  if (old & mask)
    return false;
  *word = old | mask;
  return true;
}

SAFE static inline void bitmap_clear(struct bitmap *bitmap) {
  const size_t words = (bitmap->bits + 63) / 64;
  for (size_t i = 0; i < words; i++)
    bitmap->words[i] = 0;
}
