/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The algorithms are those of Guibas and Sedgewick's red-black trees as every textbook has them,
 * with left and right as an index, so that each mirrored case is written once.
 */
#include "lib/tree.h"

#include "lib/memory.h"

#include <stdlib.h>

SAFE void *tree_find(const struct tree *tree, uint64_t key) {
  const struct tree_node *node = tree->root;
  while (node != NULL) {
    const uint64_t at = node->key;
    if (at == key)
      return node->value;
    node = node->child[at < key];
  }
  return NULL;
}

/* Puts `node` where `old` hangs below `parent` (null: at the root). */
SAFE static inline void hang(struct tree *tree, struct tree_node *parent,
                             const struct tree_node *old, struct tree_node *node) {
  if (parent == NULL)
    tree->root = node;
  else
    parent->child[parent->child[1] == old] = node;
}

/* The child on the other side of `side` takes the place of `node`, which becomes its child. */
SAFE static struct tree_node *rotate(struct tree *tree, struct tree_node *node, int side) {
  struct tree_node *raised = node->child[!side];
  struct tree_node *moved = raised->child[side];
  struct tree_node *parent = node->parent;
  node->child[!side] = moved;
  if (moved != NULL)
    moved->parent = node;
  raised->parent = parent;
  hang(tree, parent, node, raised);
  raised->child[side] = node;
  node->parent = raised;
  return raised;
}

/* `node` is red, and so may its parent be. */
SAFE static void mend_insertion(struct tree *tree, struct tree_node *node) {
  for (;;) {
    struct tree_node *parent = node->parent;
    if (parent == NULL) {
      node->red = false;
      return;
    }
    if (!parent->red)
      return;
    struct tree_node *grand = parent->parent; /* there is one: a red node is not the root */
    const int side = grand->child[1] == parent;
    struct tree_node *uncle = grand->child[!side];
    if (uncle != NULL && uncle->red) {
      parent->red = false;
      uncle->red = false;
      grand->red = true;
      node = grand;
      continue;
    }
    if (parent->child[!side] == node)
      parent = rotate(tree, parent, side);
    parent->red = false;
    grand->red = true;
    rotate(tree, grand, !side);
    return;
  }
}

SAFE bool tree_insert(struct tree *tree, uint64_t key, void *value) {
  struct tree_node *parent = NULL;
  struct tree_node *node = tree->root;
  int side = 0;
  while (node != NULL) {
    const uint64_t at = node->key;
    if (at == key)
      return false;
    parent = node;
    side = at < key;
    node = node->child[side];
  }
  struct tree_node *made = allocate(sizeof *made);
  made->key = key;
  made->value = value;
  made->child[0] = NULL;
  made->child[1] = NULL;
  made->parent = parent;
  made->red = true;
  if (parent == NULL) {
    made->red = false;
    tree->root = made;
    return true;
  }
  parent->child[side] = made;
  if (parent->red)
    mend_insertion(tree, made);
  return true;
}

/* Ways through `node` (null: the missing child of `parent`) have one black node too few. */
SAFE static void mend_removal(struct tree *tree, struct tree_node *node, struct tree_node *parent) {
  while (parent != NULL && (node == NULL || !node->red)) {
    const int side = parent->child[1] == node;
    struct tree_node *sibling = parent->child[!side];
    if (sibling->red) {
      sibling->red = false;
      parent->red = true;
      rotate(tree, parent, side);
      sibling = parent->child[!side];
    }
    struct tree_node *near = sibling->child[side];
    struct tree_node *far = sibling->child[!side];
    const bool near_red = near != NULL && near->red;
    const bool far_red = far != NULL && far->red;
    if (!near_red && !far_red) {
      sibling->red = true;
      node = parent;
      parent = node->parent;
      continue;
    }
    if (!far_red) {
      near->red = false;
      sibling->red = true;
      sibling = rotate(tree, sibling, !side);
      far = sibling->child[!side];
    }
    sibling->red = parent->red;
    parent->red = false;
    far->red = false;
    rotate(tree, parent, side);
    return;
  }
  if (node != NULL)
    node->red = false;
}

/* The successor of `node`, which has two children, takes its place. The node below which the gap
 * now is, and what hangs there, are stored; result: whether the gap lacks a black node. */
SAFE static bool replace_by_successor(struct tree *tree, struct tree_node *node,
                                      struct tree_node **gap_parent, struct tree_node **gap) {
  struct tree_node *right = node->child[1];
  struct tree_node *next = right;
  for (struct tree_node *left = next->child[0]; left != NULL; left = next->child[0])
    next = left;
  struct tree_node *below = next->child[1];
  const bool was_black = !next->red;
  struct tree_node *parent = next;
  if (next != right) {
    parent = next->parent;
    parent->child[0] = below;
    if (below != NULL)
      below->parent = parent;
    next->child[1] = right;
    right->parent = next;
  }
  struct tree_node *left = node->child[0];
  next->child[0] = left;
  left->parent = next;
  struct tree_node *above = node->parent;
  hang(tree, above, node, next);
  next->parent = above;
  next->red = node->red;
  *gap_parent = parent;
  *gap = below;
  return was_black;
}

SAFE void *tree_erase(struct tree *tree, uint64_t key) {
  struct tree_node *node = tree->root;
  while (node != NULL) {
    const uint64_t at = node->key;
    if (at == key)
      break;
    node = node->child[at < key];
  }
  if (node == NULL)
    return NULL;
  void *value = node->value;
  struct tree_node *left = node->child[0];
  struct tree_node *right = node->child[1];
  struct tree_node *parent = NULL;
  struct tree_node *gap = NULL;
  bool lacks_black = false;
  if (left != NULL && right != NULL) {
    lacks_black = replace_by_successor(tree, node, &parent, &gap);
  } else {
    gap = left != NULL ? left : right;
    parent = node->parent;
    lacks_black = !node->red;
    hang(tree, parent, node, gap);
    if (gap != NULL)
      gap->parent = parent;
  }
  if (lacks_black)
    mend_removal(tree, gap, parent);
  free(node);
  return value;
}

/* Black nodes on every way down from `node`; -1 where an invariant does not hold. Keys must lie
 * between those of `low` and `high`, where they are not null. */
static long black_height(const struct tree_node *node, const struct tree_node *parent,
                         const uint64_t *low, const uint64_t *high) {
  if (node == NULL)
    return 0;
  if (node->parent != parent || (low != NULL && node->key <= *low) ||
      (high != NULL && node->key >= *high) || (node->red && (parent == NULL || parent->red)))
    return -1;
  const long left = black_height(node->child[0], node, low, &node->key);
  const long right = black_height(node->child[1], node, &node->key, high);
  return left < 0 || left != right ? -1 : left + !node->red;
}

bool tree_sound(const struct tree *tree) { return black_height(tree->root, NULL, NULL, NULL) >= 0; }

static void visit_below(const struct tree_node *node,
                        void (*visit)(uint64_t key, void *value, void *context), void *context) {
  if (node == NULL)
    return;
  visit_below(node->child[0], visit, context);
  visit(node->key, node->value, context);
  visit_below(node->child[1], visit, context);
}

void tree_visit(const struct tree *tree, void (*visit)(uint64_t key, void *value, void *context),
                void *context) {
  visit_below(tree->root, visit, context);
}
