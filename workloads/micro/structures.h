/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sets of integers, as sequential code: the callers bracket each call with a section. insert and
 * erase return whether the set changed. check (outside sections) returns the number of elements, or
 * -1 where an invariant of the structure does not hold.
 */
#pragma once

#include "section.h"

struct list_node {
  long key;
  struct list_node *next;
};

/* Sorted, singly linked; the head is a sentinel. */
struct list {
  struct list_node head;
};

SAFE int list_contains(const struct list *list, long key);
SAFE int list_insert(struct list *list, long key);
SAFE int list_erase(struct list *list, long key);
long list_check(const struct list *list);

enum { HASH_BUCKETS = 1024 };

/* Chained. */
struct hash {
  struct list_node *buckets[HASH_BUCKETS];
};

SAFE int hash_contains(const struct hash *hash, long key);
SAFE int hash_insert(struct hash *hash, long key);
SAFE int hash_erase(struct hash *hash, long key);
long hash_check(const struct hash *hash);

struct tree_node {
  long key;
  struct tree_node *left;
  struct tree_node *right;
  struct tree_node *parent;
  micro_flag red;
};

/* Red-black. */
struct tree {
  struct tree_node *root;
};

SAFE int tree_contains(const struct tree *tree, long key);
SAFE int tree_insert(struct tree *tree, long key);
SAFE int tree_erase(struct tree *tree, long key);
long tree_check(const struct tree *tree);
