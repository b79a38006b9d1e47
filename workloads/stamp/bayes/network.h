/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A directed graph without cycles: who is whose parent. A parent lists its children, a child its
 * parents.
 */
#pragma once

#include "bayes/data.h"
#include "lib/list.h"
#include "lib/section.h"

#include <stdbool.h>
#include <stdint.h>

struct variable {
  _Alignas(128) struct list parents; /* keys are numbers of variables */
  struct list children;
  double score; /* with these parents */
};

struct network {
  struct variable variables[MOST_VARIABLES];
};

/* The parents, bit v for variable v. */
SAFE uint64_t network_parents(const struct network *network, unsigned child);

/* The variables that can be reached from one by going to children, with itself. */
SAFE uint64_t network_descendants(const struct network *network, unsigned from);

SAFE void network_add(struct network *network, unsigned parent, unsigned child);
SAFE void network_remove(struct network *network, unsigned parent, unsigned child);

/* Outside of sections. Whether the lists fit each other, and there is no cycle. */
bool network_sound(const struct network *network, unsigned variables);
