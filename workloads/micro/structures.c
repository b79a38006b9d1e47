/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "structures.h"

#include <stdlib.h>

/* The link that leads to the first node whose key is not below `key`. */
static SAFE struct list_node *list_before(struct list_node *node, long key) {
  while (node->next != NULL && node->next->key < key)
    node = node->next;
  return node;
}

SAFE int list_contains(const struct list *list, long key) {
  const struct list_node *node = list->head.next;
  while (node != NULL && node->key < key)
    node = node->next;
  return node != NULL && node->key == key;
}

SAFE int list_insert(struct list *list, long key) {
  struct list_node *before = list_before(&list->head, key);
  struct list_node *next = before->next;
  if (next != NULL && next->key == key)
    return 0;
  struct list_node *node = malloc(sizeof *node);
  if (node == NULL)
    abort();
  node->key = key;
  node->next = next;
  before->next = node;
  return 1;
}

SAFE int list_erase(struct list *list, long key) {
  struct list_node *before = list_before(&list->head, key);
  struct list_node *node = before->next;
  if (node == NULL || node->key != key)
    return 0;
  before->next = node->next;
  free(node);
  return 1;
}

long list_check(const struct list *list) {
  long count = 0;
  for (const struct list_node *node = list->head.next; node != NULL; node = node->next) {
    if (node->next != NULL && node->next->key <= node->key)
      return -1;
    ++count;
  }
  return count;
}

static SAFE unsigned long bucket_of(long key) {
  return ((unsigned long)key * 0x9e3779b97f4a7c15UL) >> 54; /* the upper 10 bits */
}

SAFE int hash_contains(const struct hash *hash, long key) {
  const struct list_node *node = hash->buckets[bucket_of(key)];
  while (node != NULL && node->key != key)
    node = node->next;
  return node != NULL;
}

SAFE int hash_insert(struct hash *hash, long key) {
  struct list_node **link = &hash->buckets[bucket_of(key)];
  for (struct list_node *node = *link; node != NULL; node = node->next)
    if (node->key == key)
      return 0;
  struct list_node *node = malloc(sizeof *node);
  if (node == NULL)
    abort();
  node->key = key;
  node->next = *link;
  *link = node;
  return 1;
}

SAFE int hash_erase(struct hash *hash, long key) {
  struct list_node **link = &hash->buckets[bucket_of(key)];
  for (struct list_node *node = *link; node != NULL; node = *link) {
    if (node->key == key) {
      *link = node->next;
      free(node);
      return 1;
    }
    link = &node->next;
  }
  return 0;
}

long hash_check(const struct hash *hash) {
  long count = 0;
  for (unsigned long i = 0; i < HASH_BUCKETS; ++i)
    for (const struct list_node *node = hash->buckets[i]; node != NULL; node = node->next) {
      if (bucket_of(node->key) != i)
        return -1;
      ++count;
    }
  return count;
}

/* ---- red-black tree: Cormen, Leiserson, Rivest, Stein, with null for the leaves ---- */

static SAFE void replace_child(struct tree *tree, struct tree_node *old, struct tree_node *new) {
  struct tree_node *parent = old->parent;
  if (parent == NULL)
    tree->root = new;
  else if (parent->left == old)
    parent->left = new;
  else
    parent->right = new;
  if (new != NULL)
    new->parent = parent;
}

static SAFE void rotate_left(struct tree *tree, struct tree_node *node) {
  struct tree_node *up = node->right;
  node->right = up->left;
  if (up->left != NULL)
    up->left->parent = node;
  replace_child(tree, node, up);
  up->left = node;
  node->parent = up;
}

static SAFE void rotate_right(struct tree *tree, struct tree_node *node) {
  struct tree_node *up = node->left;
  node->left = up->right;
  if (up->right != NULL)
    up->right->parent = node;
  replace_child(tree, node, up);
  up->right = node;
  node->parent = up;
}

static SAFE int is_red(const struct tree_node *node) { return node != NULL && node->red; }

SAFE int tree_contains(const struct tree *tree, long key) {
  const struct tree_node *node = tree->root;
  while (node != NULL) {
    long here = node->key;
    if (here == key)
      return 1;
    node = key < here ? node->left : node->right;
  }
  return 0;
}

static SAFE void rebalance_after_insert(struct tree *tree, struct tree_node *node) {
  struct tree_node *parent;
  while (is_red(parent = node->parent)) {
    struct tree_node *grand = parent->parent;
    int left = grand->left == parent;
    struct tree_node *uncle = left ? grand->right : grand->left;
    if (is_red(uncle)) {
      parent->red = 0;
      uncle->red = 0;
      grand->red = 1;
      node = grand;
      continue;
    }
    if (node == (left ? parent->right : parent->left)) {
      if (left)
        rotate_left(tree, parent);
      else
        rotate_right(tree, parent);
      node = parent;
      parent = node->parent;
    }
    parent->red = 0;
    grand->red = 1;
    if (left)
      rotate_right(tree, grand);
    else
      rotate_left(tree, grand);
  }
  if (is_red(tree->root))
    tree->root->red = 0;
}

SAFE int tree_insert(struct tree *tree, long key) {
  struct tree_node *parent = NULL;
  struct tree_node *node = tree->root;
  int left = 0;
  while (node != NULL) {
    long here = node->key;
    if (here == key)
      return 0;
    parent = node;
    left = key < here;
    node = left ? node->left : node->right;
  }
  node = malloc(sizeof *node);
  if (node == NULL)
    abort();
  node->key = key;
  node->left = NULL;
  node->right = NULL;
  node->parent = parent;
  node->red = 1;
  if (parent == NULL)
    tree->root = node;
  else if (left)
    parent->left = node;
  else
    parent->right = node;
  rebalance_after_insert(tree, node);
  return 1;
}

/* `node`, which may be null, is one black short; `parent` is its parent. Its sibling is not null,
 * and is not tested for it: gcc 12 crashes where a clone has a path that is known to trap. */
static SAFE void rebalance_after_erase(struct tree *tree, struct tree_node *node,
                                       struct tree_node *parent) {
  while (parent != NULL && !is_red(node)) {
    int left = parent->left == node;
    struct tree_node *sibling = left ? parent->right : parent->left;
    if (sibling->red) {
      sibling->red = 0;
      parent->red = 1;
      if (left)
        rotate_left(tree, parent);
      else
        rotate_right(tree, parent);
      sibling = left ? parent->right : parent->left;
    }
    struct tree_node *near = left ? sibling->left : sibling->right;
    struct tree_node *far = left ? sibling->right : sibling->left;
    if (!is_red(near) && !is_red(far)) {
      sibling->red = 1;
      node = parent;
      parent = node->parent;
      continue;
    }
    if (!is_red(far)) {
      near->red = 0;
      sibling->red = 1;
      if (left)
        rotate_right(tree, sibling);
      else
        rotate_left(tree, sibling);
      sibling = left ? parent->right : parent->left;
      far = left ? sibling->right : sibling->left;
    }
    sibling->red = parent->red;
    parent->red = 0;
    far->red = 0;
    if (left)
      rotate_left(tree, parent);
    else
      rotate_right(tree, parent);
    return;
  }
  if (is_red(node))
    node->red = 0;
}

SAFE int tree_erase(struct tree *tree, long key) {
  struct tree_node *node = tree->root;
  while (node != NULL && node->key != key)
    node = key < node->key ? node->left : node->right;
  if (node == NULL)
    return 0;
  if (node->left != NULL && node->right != NULL) {
    struct tree_node *next = node->right;
    while (next->left != NULL)
      next = next->left;
    node->key = next->key;
    node = next;
  }
  struct tree_node *child = node->left != NULL ? node->left : node->right;
  struct tree_node *parent = node->parent;
  int red = node->red;
  replace_child(tree, node, child);
  free(node);
  if (!red)
    rebalance_after_erase(tree, child, parent);
  return 1;
}

/* Black nodes on every way down, or -1; adds the nodes to *count. */
static int black_height(const struct tree_node *node, const struct tree_node *parent, long low,
                        long high, long *count) {
  if (node == NULL)
    return 1;
  if (node->parent != parent || node->key <= low || node->key >= high ||
      (node->red && is_red(parent)))
    return -1;
  ++*count;
  int left = black_height(node->left, node, low, node->key, count);
  int right = black_height(node->right, node, node->key, high, count);
  if (left != right || left < 0)
    return -1;
  return left + !node->red;
}

long tree_check(const struct tree *tree) {
  long count = 0;
  if (is_red(tree->root))
    return -1;
  return black_height(tree->root, NULL, -1, 1L << 60, &count) < 0 ? -1 : count;
}
