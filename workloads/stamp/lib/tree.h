/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A red-black tree: unique keys, each with a pointer. Logarithmic time.
 *
 * Keys are in order from left to right; the root is black; a red node has no red child; every way
 * from the root to a missing child passes the same number of black nodes (tree_sound).
 */
#pragma once

#include "lib/section.h"

#include <stdbool.h>
#include <stdint.h>

struct tree_node {
  uint64_t key;
  void *value;
  struct tree_node *child[2]; /* left: smaller keys; right: larger ones */
  struct tree_node *parent;   /* null for the root */
  bool red;
};

struct tree {
  struct tree_node *root;
};

/* The value of a key; null if it is not there. */
SAFE void *tree_find(const struct tree *tree, uint64_t key);

/* False if the key is there already. */
SAFE bool tree_insert(struct tree *tree, uint64_t key, void *value);

/* Removes a key; its value, or null if it was not there. */
SAFE void *tree_erase(struct tree *tree, uint64_t key);

/* Outside of sections: whether the invariants above hold. */
bool tree_sound(const struct tree *tree);

/* Outside of sections: calls `visit` with every key and value, in order. */
void tree_visit(const struct tree *tree, void (*visit)(uint64_t key, void *value, void *context),
                void *context);
