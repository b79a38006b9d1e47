/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * An AD-tree: a node counts the records that have certain values of some variables. For each later
 * variable it has the two nodes with that variable's values, without the one that more records
 * have: its counts are the difference. Where few records are left, a node lists them.
 */
#include "bayes/score.h"
#include "lib/memory.h"

#include <math.h>
#include <stdlib.h>

/* Of what minimum description length asks for a row of a table: small, so that networks get dense.
 */
#define PENALTY_WEIGHT 0.1

enum { MOST_LISTED = 1024, DEEPEST = MOST_PARENTS + 1 };

struct node;

struct split {
  struct node *rarer; /* null where no record has it */
  unsigned common;    /* the value that more records have */
};

/* Of the records that the node counts. Either `records` or `splits` is there. */
struct node {
  uint32_t count;
  uint64_t *records;
  struct split *splits; /* by variable, from `first` on */
  unsigned first;
};

struct scorer {
  struct node *root;
  unsigned variables;
  double penalty; /* of a row of a variable's table */
};

/* Values of variables that records must have, in ascending order of the variables. */
struct query {
  unsigned variables[DEEPEST];
  unsigned values[DEEPEST];
  unsigned count;
};

/* Puts the records without `variable` first; how many they are. */
static uint32_t partition(uint64_t *records, uint32_t count, unsigned variable) {
  uint32_t zeros = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!(records[i] >> variable & 1)) {
      const uint64_t record = records[i];
      records[i] = records[zeros];
      records[zeros++] = record;
    }
  return zeros;
}

/* `depth`: variables that queries can still ask for. The order of `records` changes. */
static struct node *build(uint64_t *records, uint32_t count, unsigned first, unsigned variables,
                          unsigned depth) {
  struct node *node = allocate(sizeof *node);
  *node = (struct node){.count = count, .first = first};
  if (count <= MOST_LISTED) {
    node->records = allocate((count + 1) * sizeof(uint64_t));
    for (uint32_t i = 0; i < count; i++)
      node->records[i] = records[i];
    return node;
  }
  if (depth == 0)
    return node;
  node->splits = allocate((variables - first + 1) * sizeof *node->splits);
  for (unsigned v = first; v < variables; v++) {
    const uint32_t zeros = partition(records, count, v);
    const uint32_t ones = count - zeros;
    struct split *split = &node->splits[v - first];
    *split = (struct split){NULL, ones > zeros};
    const uint32_t rare = split->common ? zeros : ones;
    if (rare != 0)
      split->rarer =
          build(split->common ? records : records + zeros, rare, v + 1, variables, depth - 1);
  }
  return node;
}

static double penalty_of(const struct data *data) {
  return PENALTY_WEIGHT * 0.5 * log(data->record_count);
}

struct scorer *scorer_make(const struct data *data) {
  struct scorer *scorer = allocate_table(1, sizeof *scorer);
  uint64_t *copy = allocate(data->record_count * sizeof(uint64_t));
  for (uint32_t i = 0; i < data->record_count; i++)
    copy[i] = data->records[i];
  scorer->variables = data->variable_count;
  scorer->penalty = penalty_of(data);
  scorer->root = build(copy, data->record_count, 0, data->variable_count, DEEPEST);
  free(copy);
  return scorer;
}

static uint32_t count_listed(const struct node *node, const struct query *query, unsigned from) {
  uint64_t mask = 0;
  uint64_t wanted = 0;
  for (unsigned i = from; i < query->count; i++) {
    mask |= (uint64_t)1 << query->variables[i];
    wanted |= (uint64_t)query->values[i] << query->variables[i];
  }
  uint32_t found = 0;
  for (uint32_t i = 0; i < node->count; i++)
    found += (node->records[i] & mask) == wanted;
  return found;
}

/* Records of the node that have the query's values from index `from` on. */
static uint32_t count(const struct node *node, const struct query *query, unsigned from) {
  if (node == NULL)
    return 0;
  if (from == query->count)
    return node->count;
  if (node->records != NULL)
    return count_listed(node, query, from);
  const struct split *split = &node->splits[query->variables[from] - node->first];
  if (query->values[from] != split->common)
    return count(split->rarer, query, from + 1);
  return count(node, query, from + 1) - count(split->rarer, query, from + 1);
}

static double term(uint32_t some, uint32_t all) {
  return some == 0 ? 0 : some * log((double)some / all);
}

double scorer_local(const struct scorer *scorer, unsigned variable, uint64_t parents) {
  struct query query = {.count = 0};
  unsigned at = 0; /* of the variable among its parents */
  const uint64_t all = parents | (uint64_t)1 << variable;
  for (unsigned v = 0; v < scorer->variables && query.count < DEEPEST; v++) {
    if (!(all >> v & 1))
      continue;
    if (v == variable)
      at = query.count;
    query.variables[query.count++] = v;
  }
  const unsigned rows = 1u << (query.count - 1);
  double score = -scorer->penalty * rows;
  for (unsigned row = 0; row < rows; row++) {
    unsigned bits = row;
    for (unsigned i = 0; i < query.count; i++)
      if (i != at) {
        query.values[i] = bits & 1;
        bits >>= 1;
      }
    query.values[at] = 0;
    const uint32_t zeros = count(scorer->root, &query, 0);
    query.values[at] = 1;
    const uint32_t ones = count(scorer->root, &query, 0);
    score += term(zeros, zeros + ones) + term(ones, zeros + ones);
  }
  return score;
}

double score_by_counting(const struct data *data, unsigned variable, uint64_t parents) {
  uint32_t counts[1 << MOST_PARENTS][2] = {{0, 0}};
  unsigned rows = 1;
  for (unsigned v = 0; v < data->variable_count; v++)
    rows <<= parents >> v & 1;
  for (uint32_t i = 0; i < data->record_count; i++) {
    unsigned row = 0;
    for (unsigned v = 0; v < data->variable_count; v++)
      if (parents >> v & 1)
        row = row << 1 | (unsigned)(data->records[i] >> v & 1);
    counts[row][data->records[i] >> variable & 1]++;
  }
  double score = -penalty_of(data) * rows;
  for (unsigned row = 0; row < rows; row++)
    for (unsigned value = 0; value < 2; value++)
      score += term(counts[row][value], counts[row][0] + counts[row][1]);
  return score;
}
