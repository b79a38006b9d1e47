/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "structures.h"

#include <stdlib.h>

/* Keys of lists and of the hash table are constant while their nodes can be reached. */

/* The link that leads to the first node whose key is not below `key`. */
static SAFE struct list_node *list_before(struct list_node *node, long key) {
  struct list_node *next;
  while ((next = READ(node->next)) != NULL && next->key < key)
    node = next;
  return node;
}

SAFE int list_contains(const struct list *list, long key) {
  const struct list_node *node = READ(list->head.next);
  while (node != NULL && node->key < key)
    node = READ(node->next);
  return node != NULL && node->key == key;
}

SAFE int list_insert(struct list *list, long key) {
  struct list_node *before = list_before(&list->head, key);
  struct list_node *next = READ(before->next);
  if (next != NULL && next->key == key)
    return 0;
  struct list_node *node = ALLOCATE(sizeof *node);
  if (node == NULL)
    abort();
  node->key = key;
  node->next = next;
  WRITE(before->next, node);
  return 1;
}

SAFE int list_erase(struct list *list, long key) {
  struct list_node *before = list_before(&list->head, key);
  struct list_node *node = READ(before->next);
  if (node == NULL || node->key != key)
    return 0;
  WRITE(before->next, READ(node->next));
  FREE(node);
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
  const struct list_node *node = READ(hash->buckets[bucket_of(key)]);
  while (node != NULL && node->key != key)
    node = READ(node->next);
  return node != NULL;
}

SAFE int hash_insert(struct hash *hash, long key) {
  struct list_node **link = &hash->buckets[bucket_of(key)];
  for (struct list_node *node = READ(*link); node != NULL; node = READ(node->next))
    if (node->key == key)
      return 0;
  struct list_node *node = ALLOCATE(sizeof *node);
  if (node == NULL)
    abort();
  node->key = key;
  node->next = READ(*link);
  WRITE(*link, node);
  return 1;
}

SAFE int hash_erase(struct hash *hash, long key) {
  struct list_node **link = &hash->buckets[bucket_of(key)];
  for (struct list_node *node = READ(*link); node != NULL; node = READ(*link)) {
    if (node->key == key) {
      WRITE(*link, READ(node->next));
      FREE(node);
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
  struct tree_node *parent = READ(old->parent);
  if (parent == NULL)
    WRITE(tree->root, new);
  else if (READ(parent->left) == old)
    WRITE(parent->left, new);
  else
    WRITE(parent->right, new);
  if (new != NULL)
    WRITE(new->parent, parent);
}

static SAFE void rotate_left(struct tree *tree, struct tree_node *node) {
  struct tree_node *up = READ(node->right);
  WRITE(node->right, READ(up->left));
  if (READ(up->left) != NULL)
    WRITE(READ(up->left)->parent, node);
  replace_child(tree, node, up);
  WRITE(up->left, node);
  WRITE(node->parent, up);
}

static SAFE void rotate_right(struct tree *tree, struct tree_node *node) {
  struct tree_node *up = READ(node->left);
  WRITE(node->left, READ(up->right));
  if (READ(up->right) != NULL)
    WRITE(READ(up->right)->parent, node);
  replace_child(tree, node, up);
  WRITE(up->right, node);
  WRITE(node->parent, up);
}

static SAFE int is_red(const struct tree_node *node) { return node != NULL && READ(node->red); }

SAFE int tree_contains(const struct tree *tree, long key) {
  const struct tree_node *node = READ(tree->root);
  while (node != NULL) {
    long here = READ(node->key);
    if (here == key)
      return 1;
    node = key < here ? READ(node->left) : READ(node->right);
  }
  return 0;
}

static SAFE void rebalance_after_insert(struct tree *tree, struct tree_node *node) {
  struct tree_node *parent;
  while (is_red(parent = READ(node->parent))) {
    struct tree_node *grand = READ(parent->parent);
    int left = READ(grand->left) == parent;
    struct tree_node *uncle = left ? READ(grand->right) : READ(grand->left);
    if (is_red(uncle)) {
      WRITE(parent->red, 0);
      WRITE(uncle->red, 0);
      WRITE(grand->red, 1);
      node = grand;
      continue;
    }
    if (node == (left ? READ(parent->right) : READ(parent->left))) {
      if (left)
        rotate_left(tree, parent);
      else
        rotate_right(tree, parent);
      node = parent;
      parent = READ(node->parent);
    }
    WRITE(parent->red, 0);
    WRITE(grand->red, 1);
    if (left)
      rotate_right(tree, grand);
    else
      rotate_left(tree, grand);
  }
  if (is_red(READ(tree->root)))
    WRITE(READ(tree->root)->red, 0);
}

SAFE int tree_insert(struct tree *tree, long key) {
  struct tree_node *parent = NULL;
  struct tree_node *node = READ(tree->root);
  int left = 0;
  while (node != NULL) {
    long here = READ(node->key);
    if (here == key)
      return 0;
    parent = node;
    left = key < here;
    node = left ? READ(node->left) : READ(node->right);
  }
  node = ALLOCATE(sizeof *node);
  if (node == NULL)
    abort();
  node->key = key;
  node->left = NULL;
  node->right = NULL;
  node->parent = parent;
  node->red = 1;
  if (parent == NULL)
    WRITE(tree->root, node);
  else if (left)
    WRITE(parent->left, node);
  else
    WRITE(parent->right, node);
  rebalance_after_insert(tree, node);
  return 1;
}

/* `node`, which may be null, is one black short; `parent` is its parent. Its sibling is not null,
 * and is not tested for it: gcc 12 crashes where a clone has a path that is known to trap. */
static SAFE void rebalance_after_erase(struct tree *tree, struct tree_node *node,
                                       struct tree_node *parent) {
  while (parent != NULL && !is_red(node)) {
    int left = READ(parent->left) == node;
    struct tree_node *sibling = left ? READ(parent->right) : READ(parent->left);
    if (READ(sibling->red)) {
      WRITE(sibling->red, 0);
      WRITE(parent->red, 1);
      if (left)
        rotate_left(tree, parent);
      else
        rotate_right(tree, parent);
      sibling = left ? READ(parent->right) : READ(parent->left);
    }
    struct tree_node *near = left ? READ(sibling->left) : READ(sibling->right);
    struct tree_node *far = left ? READ(sibling->right) : READ(sibling->left);
    if (!is_red(near) && !is_red(far)) {
      WRITE(sibling->red, 1);
      node = parent;
      parent = READ(node->parent);
      continue;
    }
    if (!is_red(far)) {
      WRITE(near->red, 0);
      WRITE(sibling->red, 1);
      if (left)
        rotate_right(tree, sibling);
      else
        rotate_left(tree, sibling);
      sibling = left ? READ(parent->right) : READ(parent->left);
      far = left ? READ(sibling->right) : READ(sibling->left);
    }
    WRITE(sibling->red, READ(parent->red));
    WRITE(parent->red, 0);
    WRITE(far->red, 0);
    if (left)
      rotate_left(tree, parent);
    else
      rotate_right(tree, parent);
    return;
  }
  if (is_red(node))
    WRITE(node->red, 0);
}

SAFE int tree_erase(struct tree *tree, long key) {
  struct tree_node *node = READ(tree->root);
  long here;
  while (node != NULL && (here = READ(node->key)) != key)
    node = key < here ? READ(node->left) : READ(node->right);
  if (node == NULL)
    return 0;
  if (READ(node->left) != NULL && READ(node->right) != NULL) {
    struct tree_node *next = READ(node->right);
    struct tree_node *left;
    while ((left = READ(next->left)) != NULL)
      next = left;
    WRITE(node->key, READ(next->key));
    node = next;
  }
  struct tree_node *child = READ(node->left);
  if (child == NULL)
    child = READ(node->right);
  struct tree_node *parent = READ(node->parent);
  micro_flag red = READ(node->red);
  replace_child(tree, node, child);
  FREE(node);
  if (!red)
    rebalance_after_erase(tree, child, parent);
  return 1;
}

/* The same, outside of sections. */
static int was_red(const struct tree_node *node) { return node != NULL && node->red; }

/* Black nodes on every way down, or -1; adds the nodes to *count. */
static int black_height(const struct tree_node *node, const struct tree_node *parent, long low,
                        long high, long *count) {
  if (node == NULL)
    return 1;
  if (node->parent != parent || node->key <= low || node->key >= high ||
      (node->red && was_red(parent)))
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
  if (was_red(tree->root))
    return -1;
  return black_height(tree->root, NULL, -1, 1L << 60, &count) < 0 ? -1 : count;
}
