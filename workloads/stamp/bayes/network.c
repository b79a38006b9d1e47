/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "bayes/network.h"

#include <stddef.h>

SAFE uint64_t network_parents(const struct network *network, unsigned child) {
  uint64_t set = 0;
  for (const struct list_node *node = network->variables[child].parents.first; node != NULL;
       node = node->next)
    set |= (uint64_t)1 << node->key;
  return set;
}

SAFE uint64_t network_descendants(const struct network *network, unsigned from) {
  uint64_t seen = (uint64_t)1 << from;
  uint64_t left = seen; /* seen, but not looked at */
  while (left != 0) {
    const unsigned at = (unsigned)__builtin_ctzll(left);
    left &= left - 1;
    for (const struct list_node *node = network->variables[at].children.first; node != NULL;
         node = node->next) {
      const uint64_t child = (uint64_t)1 << node->key;
      left |= child & ~seen;
      seen |= child;
    }
  }
  return seen;
}

SAFE void network_add(struct network *network, unsigned parent, unsigned child) {
  list_insert(&network->variables[child].parents, parent, NULL);
  list_insert(&network->variables[parent].children, child, NULL);
}

SAFE void network_remove(struct network *network, unsigned parent, unsigned child) {
  list_erase(&network->variables[child].parents, parent);
  list_erase(&network->variables[parent].children, child);
}

bool network_sound(const struct network *network, unsigned variables) {
  uint64_t children[MOST_VARIABLES] = {0};
  for (unsigned v = 0; v < variables; v++)
    for (const struct list_node *node = network->variables[v].children.first; node != NULL;
         node = node->next)
      children[v] |= (uint64_t)1 << node->key;
  for (unsigned v = 0; v < variables; v++) {
    for (unsigned w = 0; w < variables; w++)
      if ((network_parents(network, v) >> w & 1) != (children[w] >> v & 1))
        return false;
    for (uint64_t left = children[v]; left != 0; left &= left - 1)
      if (network_descendants(network, (unsigned)__builtin_ctzll(left)) >> v & 1)
        return false;
  }
  return true;
}
