/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Directed edges with weights, as SSCA 2 generates them: cliques of vertices, edges between cliques
 * that get rarer with their distance, some edges more than once, all in random order.
 */
#pragma once

#include <stdint.h>

struct edge {
  uint32_t from, to, weight;
};

struct edges {
  struct edge *all;
  uint64_t count;
  uint32_t vertices; /* a power of two; edges are between 0 .. vertices - 1 */
};

void edges_make(struct edges *edges, unsigned scale, uint64_t seed); /* 2^scale vertices */
