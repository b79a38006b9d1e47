/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/list.h"

#include "lib/memory.h"

#include <stdlib.h>

SAFE bool list_insert(struct list *list, uint64_t key, void *value) {
  struct list_node **link = &list->first;
  struct list_node *node = *link;
  while (node != NULL) {
    const uint64_t at = node->key;
    if (at == key)
      return false;
    if (at > key)
      break;
    link = &node->next;
    node = *link;
  }
  struct list_node *made = allocate(sizeof *made);
  made->next = node;
  made->key = key;
  made->value = value;
  *link = made;
  return true;
}

SAFE void *list_find(const struct list *list, uint64_t key) {
  for (const struct list_node *node = list->first; node != NULL; node = node->next) {
    const uint64_t at = node->key;
    if (at >= key)
      return at == key ? node->value : NULL;
  }
  return NULL;
}

SAFE void *list_erase(struct list *list, uint64_t key) {
  struct list_node **link = &list->first;
  for (struct list_node *node = *link; node != NULL; node = *link) {
    const uint64_t at = node->key;
    if (at > key)
      break;
    if (at == key) {
      void *value = node->value;
      *link = node->next;
      free(node);
      return value;
    }
    link = &node->next;
  }
  return NULL;
}

SAFE void list_clear(struct list *list) {
  struct list_node *node = list->first;
  list->first = NULL;
  while (node != NULL) {
    struct list_node *next = node->next;
    free(node);
    node = next;
  }
}
