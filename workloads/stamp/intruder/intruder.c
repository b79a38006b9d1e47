/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Intrusion detection: capture takes a fragment from the network, reassembly puts it to the others
 * of its flow, detection looks for signatures in flows that are complete. The first two are the
 * contended ones: one queue, one tree of flows.
 *
 * The flows found to be attacks must be the ones that were planted, each found once.
 */
#include "intruder/traffic.h"
#include "lib/harness.h"
#include "lib/list.h"
#include "lib/memory.h"
#include "lib/queue.h"
#include "lib/tree.h"

#include <stdlib.h>
#include <string.h>

/* A flow whose fragments have not all arrived, or one that waits for detection. */
struct flow {
  struct list fragments; /* by index */
  uint32_t received;
};

/* What a thread has found; on lines of its own. */
struct findings {
  _Alignas(128) uint64_t flows;
  uint32_t *attacks;
  uint64_t attack_count;
};

static struct traffic traffic;
static struct queue arrived;  /* of struct fragment */
static struct queue complete; /* of struct flow */
static struct {
  _Alignas(128) struct tree tree; /* of struct flow, by number */
} flows;
static struct findings findings[STAMP_MOST_THREADS];

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const struct traffic_parameters parameters[STAMP_SIZES] = {
      {1200, 128, 10}, {60000, 128, 10}, {300000, 128, 10}, {1500000, 128, 10}};
  (void)input;
  traffic_make(&traffic, &parameters[size], seed);
  queue_initialise(&arrived, traffic.fragment_count);
  queue_initialise(&complete, 64);
  for (uint64_t i = 0; i < traffic.fragment_count; i++)
    queue_push(&arrived, &traffic.fragments[i]);
  for (unsigned i = 0; i < stamp_threads(); i++)
    findings[i].attacks = allocate((traffic.flow_count + 1) * sizeof(uint32_t));
}

static SECTION_FUNCTION struct fragment *capture(struct queue *queue) {
  struct fragment *fragment = NULL;
  SECTION {
    ATTEMPT();
    fragment = queue_pop(queue);
  }
  return fragment;
}

/* Puts a fragment to those of its flow; a flow that it completes goes on to detection. */
static SECTION_FUNCTION void reassemble(struct tree *tree, struct queue *decoded,
                                        struct fragment *fragment) {
  SECTION {
    ATTEMPT();
    const uint32_t number = fragment->flow;
    const uint32_t count = fragment->count;
    struct flow *flow = tree_find(tree, number);
    if (flow == NULL) {
      flow = allocate(sizeof *flow);
      flow->fragments.first = NULL;
      flow->received = 0;
      if (count > 1)
        tree_insert(tree, number, flow);
    }
    list_insert(&flow->fragments, fragment->index, fragment);
    const uint32_t received = flow->received + 1;
    flow->received = received;
    if (received == count) {
      if (count > 1)
        tree_erase(tree, number);
      queue_push(decoded, flow);
    }
  }
}

static SECTION_FUNCTION struct flow *take_complete(struct queue *queue) {
  struct flow *flow = NULL;
  SECTION {
    ATTEMPT();
    flow = queue_pop(queue);
  }
  return flow;
}

/* The flow is nobody else's by now. */
static void inspect(struct flow *flow, char *message, struct findings *mine) {
  uint32_t length = 0;
  uint32_t number = 0;
  for (const struct list_node *node = flow->fragments.first; node != NULL; node = node->next) {
    const struct fragment *fragment = node->value;
    number = fragment->flow;
    memcpy(message + length, fragment->data, fragment->length);
    length += fragment->length;
  }
  list_clear(&flow->fragments);
  free(flow);
  mine->flows++;
  if (detect(&traffic, message, length) && mine->attack_count <= traffic.flow_count)
    mine->attacks[mine->attack_count++] = number;
}

static void run(struct stamp_thread *self) {
  char *message = allocate(traffic.longest);
  for (;;) {
    struct fragment *fragment = capture(&arrived);
    self->sections++;
    if (fragment == NULL)
      break;
    reassemble(&flows.tree, &complete, fragment);
    /* Who completes a flow takes one afterwards, so none is left in the end. */
    struct flow *flow = take_complete(&complete);
    self->sections += 2;
    if (flow != NULL)
      inspect(flow, message, &findings[self->index]);
  }
  free(message);
}

static bool verify(void) {
  uint64_t inspected = 0;
  bool *seen = allocate_table(traffic.flow_count, sizeof(bool));
  for (unsigned i = 0; i < stamp_threads(); i++) {
    inspected += findings[i].flows;
    for (uint64_t k = 0; k < findings[i].attack_count; k++) {
      const uint32_t flow = findings[i].attacks[k];
      if (flow >= traffic.flow_count || !traffic.attacks[flow])
        return stamp_wrong("flow %u was found to be an attack, and is none", flow);
      if (seen[flow])
        return stamp_wrong("flow %u was found twice", flow);
      seen[flow] = true;
    }
  }
  uint64_t attacks = 0;
  for (uint32_t flow = 0; flow < traffic.flow_count; flow++) {
    if (traffic.attacks[flow] && !seen[flow])
      return stamp_wrong("flow %u is an attack, and was not found", flow);
    attacks += seen[flow];
    stamp_checksum((uint64_t)flow * 2 + seen[flow]);
  }
  free(seen);
  if (inspected != traffic.flow_count || flows.tree.root != NULL)
    return stamp_wrong("%llu flows were inspected, not %u", (unsigned long long)inspected,
                       traffic.flow_count);
  stamp_report("fragments", (double)traffic.fragment_count);
  stamp_report("attacks", (double)attacks);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "intruder",
    .summary = "finds attacks in network traffic that arrives in fragments",
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
