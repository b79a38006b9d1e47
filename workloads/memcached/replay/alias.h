/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Random indices with given weights, in constant time: Walker's alias method, as Vose builds the
 * table (IEEE TSE 17(9), 1991). Never changes after it is made: any thread may draw.
 */
#pragma once

#include "stamp/lib/random.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>

struct alias_entry {
  double keep; /* the share of draws of this entry that stay with it */
  uint32_t other;
};

struct alias {
  uint32_t count;
  struct alias_entry entries[];
};

/* Zipf's distribution: index i has weight (i + 1)^-skew. Null where memory is exhausted. */
static inline struct alias *alias_zipf(uint32_t count, double skew) {
  struct alias *alias = malloc(sizeof *alias + count * sizeof alias->entries[0]);
  double *weight = malloc(count * sizeof *weight);
  uint32_t *pending = malloc(count * sizeof *pending);
  if (!alias || !weight || !pending) {
    free(alias), free(weight), free(pending);
    return NULL;
  }
  double sum = 0;
  for (uint32_t i = 0; i < count; i++)
    sum += weight[i] = pow(i + 1.0, -skew);
  uint32_t small = 0,
           large = count; /* pending[0 .. small) below the mean, [large .. count) above */
  for (uint32_t i = 0; i < count; i++) {
    weight[i] *= count / sum;
    pending[weight[i] < 1 ? small++ : --large] = i;
  }
  alias->count = count;
  for (uint32_t i = 0; i < count; i++)
    alias->entries[i] = (struct alias_entry){1, i};
  while (small > 0 && large < count) {
    const uint32_t from = pending[--small], to = pending[large];
    alias->entries[from] = (struct alias_entry){weight[from], to};
    weight[to] -= 1 - weight[from];
    if (weight[to] < 1) {
      pending[small++] = to;
      large++;
    }
  }
  free(weight), free(pending);
  return alias;
}

static inline uint32_t alias_draw(const struct alias *alias, struct random *random) {
  const uint32_t i = (uint32_t)random_below(random, alias->count);
  return random_unit(random) < alias->entries[i].keep ? i : alias->entries[i].other;
}
