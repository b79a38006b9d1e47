/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Memory of any size from one mapping, for what processes share: blocks with their sizes at both
 * ends, free ones in lists by size. Source: Masmano, Ripoll, Crespo, Real: TLSF, a new dynamic
 * memory allocator for real-time systems (2004), with one list for each eighth of a power of two.
 *
 * No locks: the caller has one.
 */
#pragma once

#include <stddef.h>

struct segment;

/* Makes one in `bytes` of memory, aligned to 64; null where that is too little. */
struct segment *segment_make(void *memory, size_t bytes);
/* Aligned to 16; null where no block is large enough. */
void *segment_allocate(struct segment *segment, size_t bytes);
/* The block keeps at least `bytes`, and gives the rest back. */
void segment_shrink(struct segment *segment, void *memory, size_t bytes);
void segment_free(struct segment *segment, void *memory);
/* segment_allocate(bytes) takes so much more of it, rounded up to 16, and 32 in all at least. */
#define SEGMENT_BLOCK_BYTES (2 * sizeof(size_t))
/* Bytes in free blocks; 0 also where the blocks contradict each other. */
size_t segment_available(const struct segment *segment);
