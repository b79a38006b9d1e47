/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Learns a network by hill climbing: parents are added, removed and turned around, the change that
 * promises most first. A change is looked at again when its turn comes, and made if it still makes
 * the score better.
 */
#pragma once

#include "bayes/network.h"
#include "bayes/score.h"
#include "lib/harness.h"
#include "lib/heap.h"

enum change { NO_CHANGE, ADD, REMOVE, TURN };

/* A change of the edge from `parent` to `child`. */
struct task {
  enum change change;
  unsigned parent, child;
  double gain; /* of the score, when the task was made */
};

struct learner {
  const struct scorer *scorer;
  unsigned variables;
  struct network network;
  struct {
    _Alignas(128) struct heap heap; /* of struct task, by gain */
  } tasks;
  struct {
    _Alignas(128) double score; /* of the network */
    uint64_t changes;
  } total;
};

/* Outside of sections: a network without edges. */
void learner_initialise(struct learner *learner, const struct scorer *scorer, unsigned variables);

/* The first task of variable `child`, if there is one. */
void learner_begin(struct learner *learner, unsigned child, struct stamp_thread *self);

/* Works until there is no task. Any number of threads, after learner_begin of all variables. */
void learner_run(struct learner *learner, struct stamp_thread *self);
