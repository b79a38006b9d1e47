/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The data base of a travel agency: what can be reserved, and who has reserved it.
 *
 * Of every item, used + free == total; the customers' lists have it `used` times, all in all.
 */
#pragma once

#include "lib/list.h"
#include "lib/section.h"
#include "lib/tree.h"

#include <stdbool.h>
#include <stdint.h>

enum kind { CAR, FLIGHT, ROOM, KINDS };

/* What can be reserved. */
struct item {
  int64_t used, free, total;
  int64_t price;
};

struct customer {
  struct list reservations; /* by reservation_key; each value is a struct reservation */
};

struct reservation {
  int64_t price; /* when it was made */
};

struct manager {
  struct {
    _Alignas(128) struct tree tree; /* of struct item, by number */
  } items[KINDS];
  struct {
    _Alignas(128) struct tree tree; /* of struct customer, by number */
  } customers;
};

static inline uint64_t reservation_key(enum kind kind, uint64_t number) {
  return (uint64_t)kind << 32 | number;
}

/* Adds `count` pieces of an item, which is made where there is none; a negative count takes free
 * ones away, and the item where none is left. A price of -1 stays as it is. False, and nothing
 * done, if that cannot be. */
SAFE bool manager_add(struct manager *manager, enum kind kind, uint64_t number, int64_t count,
                      int64_t price);

/* The price, or -1 if there is no such item or none is free. */
SAFE int64_t manager_price(const struct manager *manager, enum kind kind, uint64_t number);

/* False if the customer is there already. */
SAFE bool manager_add_customer(struct manager *manager, uint64_t customer);

/* Reserves for a customer who has not reserved that item yet; false if it cannot be. */
SAFE bool manager_reserve(struct manager *manager, enum kind kind, uint64_t number,
                          uint64_t customer);

/* Cancels all of a customer's reservations, and removes the customer; the sum of the prices, or -1
 * if there is no such customer. */
SAFE int64_t manager_remove_customer(struct manager *manager, uint64_t customer);
