/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bayes/learner.h"

#include "lib/memory.h"

#include <stdlib.h>
#include <string.h>

/* Smaller gains are rounding errors. */
static const double least_gain = 1e-6;

static const struct task no_task = {NO_CHANGE, 0, 0, 0};

void learner_initialise(struct learner *learner, const struct scorer *scorer, unsigned variables) {
  memset(learner, 0, sizeof *learner);
  learner->scorer = scorer;
  learner->variables = variables;
  heap_initialise(&learner->tasks.heap, 64);
  for (unsigned v = 0; v < variables; v++) {
    learner->network.variables[v].score = scorer_local(scorer, v, 0);
    learner->total.score += learner->network.variables[v].score;
  }
}

/* The number of elements of a set. */
SAFE static inline unsigned size_of(uint64_t set) {
  unsigned size = 0;
  for (; set != 0; set &= set - 1)
    size++;
  return size;
}

SAFE static inline uint64_t set_of(unsigned variable) { return (uint64_t)1 << variable; }

/* Whether adding the edge keeps the graph without cycles and the child's table small. */
SAFE static bool may_add(const struct network *network, unsigned parent, unsigned child,
                         uint64_t parents) {
  return parent != child && !(parents >> parent & 1) && size_of(parents) < MOST_PARENTS &&
         !(network_descendants(network, child) >> parent & 1);
}

/* Whether the edge from parent to child can be turned around: it must be the only way there. */
SAFE static bool may_turn(const struct network *network, unsigned parent, unsigned child,
                          uint64_t parents_of_parent) {
  if (size_of(parents_of_parent) >= MOST_PARENTS)
    return false;
  for (const struct list_node *node = network->variables[parent].children.first; node != NULL;
       node = node->next) {
    const unsigned other = (unsigned)node->key;
    if (other != child && (network_descendants(network, other) >> child & 1))
      return false;
  }
  return true;
}

/* The best parent to add to `child`. */
static SECTION_FUNCTION struct task find_addition(const struct learner *learner, unsigned child) {
  struct task best = no_task;
  SECTION {
    ATTEMPT();
    best = no_task;
    const struct network *network = &learner->network;
    const uint64_t parents = network_parents(network, child);
    const uint64_t below = network_descendants(network, child);
    const double score = network->variables[child].score;
    const unsigned variables = size_of(parents) < MOST_PARENTS ? learner->variables : 0;
    for (unsigned parent = 0; parent < variables; parent++) {
      if ((parents | below) >> parent & 1)
        continue;
      const double gain = scorer_local(learner->scorer, child, parents | set_of(parent)) - score;
      if (gain > least_gain && gain > best.gain)
        best = (struct task){ADD, parent, child, gain};
    }
  }
  return best;
}

/* The best parent to remove from `child`. */
static SECTION_FUNCTION struct task find_removal(const struct learner *learner, unsigned child) {
  struct task best = no_task;
  SECTION {
    ATTEMPT();
    best = no_task;
    const uint64_t parents = network_parents(&learner->network, child);
    const double score = learner->network.variables[child].score;
    for (uint64_t left = parents; left != 0; left &= left - 1) {
      const unsigned parent = (unsigned)__builtin_ctzll(left);
      const double gain = scorer_local(learner->scorer, child, parents & ~set_of(parent)) - score;
      if (gain > least_gain && gain > best.gain)
        best = (struct task){REMOVE, parent, child, gain};
    }
  }
  return best;
}

/* What turning an edge around gains. */
SAFE static double gain_of_turn(const struct learner *learner, unsigned parent, unsigned child,
                                uint64_t parents, uint64_t parents_of_parent) {
  return scorer_local(learner->scorer, child, parents & ~set_of(parent)) -
         learner->network.variables[child].score +
         scorer_local(learner->scorer, parent, parents_of_parent | set_of(child)) -
         learner->network.variables[parent].score;
}

/* The best edge to `child` to turn around. */
static SECTION_FUNCTION struct task find_turn(const struct learner *learner, unsigned child) {
  struct task best = no_task;
  SECTION {
    ATTEMPT();
    best = no_task;
    const uint64_t parents = network_parents(&learner->network, child);
    for (uint64_t left = parents; left != 0; left &= left - 1) {
      const unsigned parent = (unsigned)__builtin_ctzll(left);
      const uint64_t above = network_parents(&learner->network, parent);
      if (!may_turn(&learner->network, parent, child, above))
        continue;
      const double gain = gain_of_turn(learner, parent, child, parents, above);
      if (gain > least_gain && gain > best.gain)
        best = (struct task){TURN, parent, child, gain};
    }
  }
  return best;
}

/* Makes a change, if it still can be made and gains something. */
static SECTION_FUNCTION bool apply(struct learner *learner, struct task task) {
  bool done = false;
  SECTION {
    ATTEMPT();
    done = false;
    struct network *network = &learner->network;
    struct variable *child = &network->variables[task.child];
    struct variable *parent = &network->variables[task.parent];
    const uint64_t parents = network_parents(network, task.child);
    const bool is_parent = parents >> task.parent & 1;
    double gain = 0;
    if (task.change == ADD && may_add(network, task.parent, task.child, parents)) {
      gain =
          scorer_local(learner->scorer, task.child, parents | set_of(task.parent)) - child->score;
      if (gain > least_gain)
        network_add(network, task.parent, task.child);
    } else if (task.change == REMOVE && is_parent) {
      gain =
          scorer_local(learner->scorer, task.child, parents & ~set_of(task.parent)) - child->score;
      if (gain > least_gain)
        network_remove(network, task.parent, task.child);
    } else if (task.change == TURN && is_parent) {
      const uint64_t above = network_parents(network, task.parent);
      if (may_turn(network, task.parent, task.child, above))
        gain = gain_of_turn(learner, task.parent, task.child, parents, above);
      if (gain > least_gain) {
        network_remove(network, task.parent, task.child);
        network_add(network, task.child, task.parent);
        parent->score = scorer_local(learner->scorer, task.parent, above | set_of(task.child));
      }
    }
    if (gain > least_gain) {
      child->score =
          scorer_local(learner->scorer, task.child, network_parents(network, task.child));
      learner->total.score += gain;
      learner->total.changes++;
      done = true;
    }
  }
  return done;
}

static SECTION_FUNCTION struct task *take_task(struct heap *heap) {
  struct task *task = NULL;
  SECTION {
    ATTEMPT();
    task = heap_pop(heap);
  }
  return task;
}

static SECTION_FUNCTION void add_task(struct heap *heap, uint64_t priority, struct task *task) {
  SECTION {
    ATTEMPT();
    heap_push(heap, priority, task);
  }
}

static void submit(struct learner *learner, struct task task, struct stamp_thread *self) {
  if (task.change == NO_CHANGE)
    return;
  struct task *made = allocate(sizeof *made);
  *made = task;
  uint64_t priority; /* positive numbers are in the order of their bits */
  memcpy(&priority, &task.gain, sizeof priority);
  add_task(&learner->tasks.heap, priority, made);
  self->sections++;
}

void learner_begin(struct learner *learner, unsigned child, struct stamp_thread *self) {
  submit(learner, find_addition(learner, child), self);
  self->sections++;
}

static struct task best_of(struct task a, struct task b) { return b.gain > a.gain ? b : a; }

void learner_run(struct learner *learner, struct stamp_thread *self) {
  for (;;) {
    struct task *task = take_task(&learner->tasks.heap);
    self->sections++;
    if (task == NULL)
      return;
    const struct task change = *task;
    free(task);
    apply(learner, change);
    struct task next = find_addition(learner, change.child);
    next = best_of(next, find_removal(learner, change.child));
    next = best_of(next, find_turn(learner, change.child));
    submit(learner, next, self);
    self->sections += 4;
  }
}
