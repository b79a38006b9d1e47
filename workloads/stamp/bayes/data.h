/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Records of variables that are true or false, drawn from a random Bayesian network.
 */
#pragma once

#include <stdint.h>

enum { MOST_VARIABLES = 64, MOST_PARENTS = 8 };

struct data {
  uint64_t *records; /* bit v: variable v is true */
  uint32_t record_count;
  unsigned variable_count;
};

/* `parents`: of a variable of the network, at most MOST_PARENTS. */
void data_make(struct data *data, unsigned variables, uint32_t records, unsigned parents,
               uint64_t seed);
