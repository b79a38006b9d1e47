/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How well parents explain a variable: the log-likelihood of its values given theirs, less what the
 * parents' table costs (minimum description length). Counts come from an AD-tree (Moore and Lee),
 * which never changes.
 */
#pragma once

#include "bayes/data.h"
#include "lib/section.h"

#include <stdint.h>

struct scorer;

/* Outside of sections. The data must stay. */
struct scorer *scorer_make(const struct data *data);

/* The score of `variable` with the set of parents, bit v for variable v; at most MOST_PARENTS. */
PRIVATE double scorer_local(const struct scorer *scorer, unsigned variable, uint64_t parents);

/* The same from the records themselves, one by one. Outside of sections. */
double score_by_counting(const struct data *data, unsigned variable, uint64_t parents);
