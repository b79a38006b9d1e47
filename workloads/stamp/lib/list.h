/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A sorted list: unique keys, ascending. Linear time.
 */
#pragma once

#include "lib/section.h"

#include <stdbool.h>
#include <stdint.h>

struct list_node {
  struct list_node *next;
  uint64_t key;
  void *value;
};

struct list {
  struct list_node *first;
};

/* False if the key is there already. */
SAFE bool list_insert(struct list *list, uint64_t key, void *value);

/* The value of a key; null if it is not there. */
SAFE void *list_find(const struct list *list, uint64_t key);

/* Removes a key; its value, or null if it was not there. */
SAFE void *list_erase(struct list *list, uint64_t key);

/* Removes all. */
SAFE void list_clear(struct list *list);
