/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A travel agency: clients reserve cars, flights and rooms, customers leave, and the offers change.
 * Each is one section over the agency's red-black trees. High contention: more queries in each
 * section, over a smaller part of the tables.
 *
 * In the end what is used of each item must be what the customers' lists say, and the trees must be
 * sound. How many reservations were made and cancelled is known from what the sections returned.
 */
#include "lib/harness.h"
#include "lib/memory.h"
#include "vacation/manager.h"

#include <stdlib.h>

enum { MOST_QUERIES = 8, PIECES = 100 };

/* What one section is asked to do: item numbers[i] of kinds[i]. */
struct request {
  uint32_t numbers[MOST_QUERIES];
  uint8_t kinds[MOST_QUERIES];
  int32_t prices[MOST_QUERIES]; /* of changed offers; -1: take pieces away */
  uint32_t queries;
  uint32_t customer;
};

/* What a thread's sections have done. */
struct totals {
  _Alignas(128) int64_t pieces; /* added minus taken away */
  int64_t reserved;
  int64_t customers; /* added minus removed */
};

struct mix {
  uint32_t queries;       /* in a section */
  uint32_t percent_range; /* of the items that are asked for */
  uint32_t percent_user;  /* of the sections that reserve; the others are divided equally */
};

static const char *const inputs[] = {"high", "low", NULL};
static const struct mix mixes[] = {{4, 60, 90}, {2, 90, 98}};

static struct manager manager;
static struct mix mix;
static uint64_t relations, range, tasks;
static struct totals totals[STAMP_MOST_THREADS];
static struct totals initially;

static void fill_tables(struct random *random) {
  uint32_t *order = allocate_table(relations, sizeof(uint32_t));
  for (int kind = 0; kind <= KINDS; kind++) {
    for (uint32_t i = 0; i < relations; i++) {
      const uint64_t other = random_below(random, i + 1);
      order[i] = order[other];
      order[other] = i;
    }
    for (uint64_t i = 0; i < relations; i++) {
      const int64_t count = PIECES * (1 + (int64_t)random_below(random, 5));
      const int64_t price = 50 + 10 * (int64_t)random_below(random, 5);
      if (kind == KINDS) {
        initially.customers += manager_add_customer(&manager, order[i]);
      } else {
        manager_add(&manager, (enum kind)kind, order[i], count, price);
        initially.pieces += count;
      }
    }
  }
  free(order);
}

static void prepare(enum stamp_size size, unsigned input, uint64_t seed) {
  static const struct {
    uint64_t relations, tasks;
  } parameters[STAMP_SIZES] = {
      {4096, 10000}, {65536, 400000}, {262144, 1500000}, {1048576, 4000000}};
  struct random random = random_stream(seed, 0);
  mix = mixes[input];
  relations = parameters[size].relations;
  tasks = parameters[size].tasks;
  range = relations * mix.percent_range / 100;
  fill_tables(&random);
}

/* Looks at all items of the request, and reserves the dearest of each kind. Result: reservations
 * made, and 1 << 8 more if the customer is new. */
static SECTION_FUNCTION unsigned reserve(struct manager *all, struct request request) {
  unsigned done = 0;
  SECTION {
    ATTEMPT();
    int64_t best_price[KINDS] = {-1, -1, -1};
    uint32_t best[KINDS] = {0, 0, 0};
    bool found = false;
    for (uint32_t i = 0; i < request.queries; i++) {
      const unsigned kind = request.kinds[i];
      const int64_t price = manager_price(all, (enum kind)kind, request.numbers[i]);
      if (price > best_price[kind]) {
        best_price[kind] = price;
        best[kind] = request.numbers[i];
        found = true;
      }
    }
    done = 0;
    if (found && manager_add_customer(all, request.customer))
      done = 1u << 8;
    for (unsigned kind = 0; kind < KINDS; kind++)
      if (best_price[kind] >= 0)
        done += manager_reserve(all, (enum kind)kind, best[kind], request.customer);
  }
  return done;
}

static SECTION_FUNCTION int64_t remove_customer(struct manager *all, uint32_t customer) {
  int64_t bill = -1;
  SECTION {
    ATTEMPT();
    bill = manager_remove_customer(all, customer);
  }
  return bill;
}

/* Adds pieces of the items at new prices, or takes some away. Result: pieces added. */
static SECTION_FUNCTION int64_t change_offers(struct manager *all, struct request request) {
  int64_t added = 0;
  SECTION {
    ATTEMPT();
    added = 0;
    for (uint32_t i = 0; i < request.queries; i++) {
      const int64_t price = request.prices[i];
      const int64_t count = price >= 0 ? PIECES : -PIECES;
      if (manager_add(all, (enum kind)request.kinds[i], request.numbers[i], count, price))
        added += count;
    }
  }
  return added;
}

static struct request make_request(struct random *random) {
  struct request request = {.customer = (uint32_t)random_below(random, range)};
  request.queries = 1 + (uint32_t)random_below(random, mix.queries);
  for (uint32_t i = 0; i < request.queries; i++) {
    request.kinds[i] = (uint8_t)random_below(random, KINDS);
    request.numbers[i] = (uint32_t)random_below(random, range);
    request.prices[i] = random_below(random, 2) ? 50 + 10 * (int32_t)random_below(random, 5) : -1;
  }
  return request;
}

/* Each task has its random numbers, so that all numbers of threads do the same tasks. */
static void run(struct stamp_thread *self) {
  const struct stamp_range part = stamp_part(self, tasks);
  struct totals *mine = &totals[self->index];
  for (uint64_t i = part.begin; i < part.end; i++) {
    struct random random = random_stream(i, 77);
    const struct request request = make_request(&random);
    const uint64_t action = random_below(&random, 100);
    if (action < mix.percent_user) {
      const unsigned done = reserve(&manager, request);
      mine->reserved += done & 0xff;
      mine->customers += done >> 8;
    } else if (action & 1) {
      mine->customers -= remove_customer(&manager, request.customer) >= 0;
    } else {
      mine->pieces += change_offers(&manager, request);
    }
  }
  self->sections += part.end - part.begin;
}

/* What verify counts. */
struct audit {
  struct tree used[KINDS]; /* by item, a pointer to a count */
  int64_t pieces, used_pieces, reservations, customers;
  bool sound;
};

static void audit_customer(uint64_t number, void *value, void *context) {
  struct audit *audit = context;
  const struct customer *customer = value;
  uint64_t sum = 0;
  audit->customers++;
  for (const struct list_node *node = customer->reservations.first; node; node = node->next) {
    struct tree *used = &audit->used[node->key >> 32];
    int64_t *count = tree_find(used, node->key & UINT32_MAX);
    if (count == NULL) {
      count = allocate_table(1, sizeof *count);
      tree_insert(used, node->key & UINT32_MAX, count);
    }
    ++*count;
    audit->reservations++;
    sum = sum * 31 + node->key + (uint64_t)((const struct reservation *)node->value)->price;
  }
  stamp_checksum(number * 0x100000001b3u + sum);
}

static void audit_item(struct audit *audit, enum kind kind, uint64_t number,
                       const struct item *item) {
  int64_t *counted = tree_erase(&audit->used[kind], number);
  const int64_t used = counted == NULL ? 0 : *counted;
  free(counted);
  audit->pieces += item->total;
  audit->used_pieces += item->used;
  if (item->used != used || item->used + item->free != item->total || item->free < 0)
    audit->sound = stamp_wrong(
        "item %llu of kind %d: total %lld, free %lld, used %lld, but in %lld customers' lists",
        (unsigned long long)number, kind, (long long)item->total, (long long)item->free,
        (long long)item->used, (long long)used);
  stamp_checksum(reservation_key(kind, number) * 0x100000001b3u + (uint64_t)item->free * 31 +
                 (uint64_t)item->price);
}

static void audit_car(uint64_t number, void *item, void *audit) {
  audit_item(audit, CAR, number, item);
}
static void audit_flight(uint64_t number, void *item, void *audit) {
  audit_item(audit, FLIGHT, number, item);
}
static void audit_room(uint64_t number, void *item, void *audit) {
  audit_item(audit, ROOM, number, item);
}

static bool verify(void) {
  struct audit audit = {.sound = true};
  struct totals all = initially;
  for (unsigned i = 0; i < stamp_threads(); i++) {
    all.pieces += totals[i].pieces;
    all.reserved += totals[i].reserved;
    all.customers += totals[i].customers;
  }
  bool trees = tree_sound(&manager.customers.tree);
  for (int kind = 0; kind < KINDS; kind++)
    trees = trees && tree_sound(&manager.items[kind].tree);
  if (!trees)
    return stamp_wrong("a tree is not sound");
  tree_visit(&manager.customers.tree, audit_customer, &audit);
  tree_visit(&manager.items[CAR].tree, audit_car, &audit);
  tree_visit(&manager.items[FLIGHT].tree, audit_flight, &audit);
  tree_visit(&manager.items[ROOM].tree, audit_room, &audit);
  if (!audit.sound)
    return false;
  for (int kind = 0; kind < KINDS; kind++)
    if (audit.used[kind].root != NULL)
      return stamp_wrong("a customer has an item that does not exist");
  if (audit.pieces != all.pieces || audit.customers != all.customers)
    return stamp_wrong("%lld pieces and %lld customers, not %lld and %lld", (long long)audit.pieces,
                       (long long)audit.customers, (long long)all.pieces, (long long)all.customers);
  if (audit.used_pieces != audit.reservations || audit.reservations > all.reserved)
    return stamp_wrong("%lld reservations are there, of %lld made, and %lld pieces are used",
                       (long long)audit.reservations, (long long)all.reserved,
                       (long long)audit.used_pieces);
  stamp_report("reserved", (double)all.reserved);
  stamp_report("customers", (double)all.customers);
  return true;
}

const struct stamp_application stamp_application = {
    .name = "vacation",
    .summary = "a travel agency's reservations, in red-black trees",
    .inputs = inputs,
    .prepare = prepare,
    .run = run,
    .verify = verify,
};
