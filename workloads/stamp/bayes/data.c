/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bayes/data.h"

#include "lib/memory.h"
#include "lib/random.h"

#include <stdlib.h>

/* A variable of the network: parents come before it, under numbers of their own. */
struct node {
  unsigned parents[MOST_PARENTS];
  unsigned parent_count;
  double probability[1 << MOST_PARENTS]; /* to be true, by the parents' values */
};

static void make_node(struct node *node, unsigned index, unsigned parents, struct random *random) {
  const unsigned most = index < parents ? index : parents;
  node->parent_count = (unsigned)random_below(random, most + 1);
  uint64_t taken = 0;
  for (unsigned i = 0; i < node->parent_count;) {
    const unsigned parent = (unsigned)random_below(random, index);
    if (taken >> parent & 1)
      continue;
    taken |= (uint64_t)1 << parent;
    node->parents[i++] = parent;
  }
  for (unsigned i = 0; i < 1u << node->parent_count; i++) {
    const double strength = random_unit(random);
    node->probability[i] = random_below(random, 2) ? 0.5 + 0.45 * strength : 0.5 - 0.45 * strength;
  }
}

static uint64_t draw(const struct node *nodes, unsigned count, const unsigned *names,
                     struct random *random) {
  uint64_t values = 0;
  uint64_t record = 0;
  for (unsigned i = 0; i < count; i++) {
    unsigned row = 0;
    for (unsigned k = 0; k < nodes[i].parent_count; k++)
      row |= (unsigned)(values >> nodes[i].parents[k] & 1) << k;
    const uint64_t value = random_unit(random) < nodes[i].probability[row];
    values |= value << i;
    record |= value << names[i];
  }
  return record;
}

void data_make(struct data *data, unsigned variables, uint32_t records, unsigned parents,
               uint64_t seed) {
  struct random random = random_stream(seed, 0);
  struct node *nodes = allocate_table(variables, sizeof *nodes);
  unsigned names[MOST_VARIABLES];
  for (unsigned i = 0; i < variables; i++) {
    make_node(&nodes[i], i, parents, &random);
    const unsigned other = (unsigned)random_below(&random, i + 1);
    names[i] = names[other];
    names[other] = i;
  }
  *data = (struct data){.record_count = records, .variable_count = variables};
  data->records = allocate_table(records, sizeof(uint64_t));
  for (uint32_t i = 0; i < records; i++)
    data->records[i] = draw(nodes, variables, names, &random);
  free(nodes);
}
