/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "vacation/manager.h"

#include "lib/memory.h"

#include <stdlib.h>

SAFE bool manager_add(struct manager *manager, enum kind kind, uint64_t number, int64_t count,
                      int64_t price) {
  struct tree *items = &manager->items[kind].tree;
  struct item *item = tree_find(items, number);
  if (item == NULL) {
    if (count < 1 || price < 0)
      return false;
    item = allocate(sizeof *item);
    item->used = 0;
    item->free = count;
    item->total = count;
    item->price = price;
    tree_insert(items, number, item);
    return true;
  }
  const int64_t free_now = item->free + count;
  if (free_now < 0)
    return false;
  const int64_t total = item->total + count;
  if (total == 0) {
    tree_erase(items, number);
    free(item);
    return true;
  }
  item->free = free_now;
  item->total = total;
  if (price >= 0)
    item->price = price;
  return true;
}

SAFE int64_t manager_price(const struct manager *manager, enum kind kind, uint64_t number) {
  const struct item *item = tree_find(&manager->items[kind].tree, number);
  return item != NULL && item->free > 0 ? item->price : -1;
}

SAFE bool manager_add_customer(struct manager *manager, uint64_t customer) {
  struct customer *made = allocate(sizeof *made);
  made->reservations.first = NULL;
  if (tree_insert(&manager->customers.tree, customer, made))
    return true;
  free(made);
  return false;
}

SAFE bool manager_reserve(struct manager *manager, enum kind kind, uint64_t number,
                          uint64_t customer) {
  struct customer *who = tree_find(&manager->customers.tree, customer);
  if (who == NULL)
    return false;
  struct item *item = tree_find(&manager->items[kind].tree, number);
  if (item == NULL)
    return false;
  const int64_t free_now = item->free;
  if (free_now < 1)
    return false;
  struct reservation *made = allocate(sizeof *made);
  made->price = item->price;
  if (!list_insert(&who->reservations, reservation_key(kind, number), made)) {
    free(made);
    return false;
  }
  item->free = free_now - 1;
  item->used++;
  return true;
}

SAFE int64_t manager_remove_customer(struct manager *manager, uint64_t customer) {
  struct customer *who = tree_erase(&manager->customers.tree, customer);
  if (who == NULL)
    return -1;
  int64_t bill = 0;
  for (struct list_node *node = who->reservations.first; node != NULL; node = node->next) {
    const uint64_t key = node->key;
    struct reservation *reservation = node->value;
    struct item *item = tree_find(&manager->items[key >> 32].tree, key & UINT32_MAX);
    bill += reservation->price;
    item->free++;
    item->used--;
    free(reservation);
  }
  list_clear(&who->reservations);
  free(who);
  return bill;
}
