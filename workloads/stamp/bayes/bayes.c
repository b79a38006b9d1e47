/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Structure learning: which variables of a table depend on which, as a Bayesian network.
 *
 * The network must be sound, its score be what counting the records one by one says, and as good as
 * that of the network that one thread learns, within a tolerance: the order of changes differs.
 */
#include "bayes/learner.h"
#include "lib/harness.h"
#include "lib/memory.h"

#include <math.h>
#include <stdlib.h>

/* How much less the network may gain over none than the sequential one, as a share: by other orders
 * of the changes it was 0.05 at most, over seeds and numbers of threads. */
#define TOLERANCE 0.15

static struct data data;
static struct scorer *scorer;
static struct learner *learner;
static double score_at_first;

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const struct {
    unsigned variables, parents;
    uint32_t records;
  } parameters[STAMP_SIZES] = {{18, 6, 1024}, {36, 8, 4096}, {56, 8, 8192}, {64, 8, 16384}};
  (void)input;
  data_make(&data, parameters[size].variables, parameters[size].records, parameters[size].parents,
            seed);
  scorer = scorer_make(&data);
  learner = allocate_table(1, sizeof *learner);
  learner_initialise(learner, scorer, data.variable_count);
  score_at_first = learner->total.score;
}

static void run(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, data.variable_count);
  for (uint64_t v = part.begin; v < part.end; v++)
    learner_begin(learner, (unsigned)v, self);
  stamp_barrier();
  learner_run(learner, self);
}

/* What one thread learns. */
static double sequential_score(void) {
  struct stamp_thread alone = {.index = 0};
  struct learner *other = allocate_table(1, sizeof *other);
  learner_initialise(other, scorer, data.variable_count);
  for (unsigned v = 0; v < data.variable_count; v++)
    learner_begin(other, v, &alone);
  learner_run(other, &alone);
  const double score = other->total.score;
  free(other);
  return score;
}

static bool verify(void) {
  const struct network *network = &learner->network;
  if (!network_sound(network, data.variable_count))
    return stamp_wrong("the network has a cycle, or lists that do not fit");
  double counted = 0;
  uint64_t edges = 0;
  for (unsigned v = 0; v < data.variable_count; v++) {
    const uint64_t parents = network_parents(network, v);
    counted += score_by_counting(&data, v, parents);
    edges += (uint64_t)__builtin_popcountll(parents);
    stamp_checksum(parents * 64 + v);
  }
  const double score = learner->total.score;
  if (fabs(score - counted) > 1e-9 * fabs(counted))
    return stamp_wrong("the score is %.9g, but the records say %.9g", score, counted);
  const double expected = stamp_threads() == 1 ? score : sequential_score();
  if (score - expected < -TOLERANCE * (expected - score_at_first))
    return stamp_wrong("the score is %.9g, but one thread learns %.9g", score, expected);
  stamp_report("first_log_likelihood", score_at_first);
  stamp_report("log_likelihood", score);
  stamp_report("sequential_log_likelihood", expected);
  stamp_report("edges", (double)edges);
  stamp_report("changes", (double)learner->total.changes);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "bayes",
    .summary = "learns the structure of a Bayesian network",
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
