/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The store's operations. Each is one section on the core, and what surrounds it: memory is
 * allocated before, and freed behind. In a shared store the same happens under its lock.
 */
#include "store.h"

#include "handle.h"
#include "section.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define XXH_INLINE_ALL
#include <xxhash.h>

/* A part of a body whose length is known is no larger: a shared store has to find that much in one
 * piece. One of unknown length begins with that much, and its last part gives back the rest. */
enum { kLargestPart = 64 << 10, kStreamedPart = 16 << 10 };

/* Whether a shared store can be used; its lock is held then, and is not otherwise. */
static bool enter(struct store *store) {
  if (shared_enter(store->shared, store->core))
    return true;
  shared_leave(store->shared);
  return false;
}
static void leave(struct store *store) { shared_leave(store->shared); }
static uint64_t *held(struct store *store) { return &store->shared->process[store->process].held; }

static struct store_object *open_own(struct core *core, uint32_t hash, const char *key,
                                     size_t key_bytes, uint64_t now) {
  SECTION(core) { return core_open(core, hash, key, key_bytes, now); }
  return NULL;
}

uint32_t store_hash(const struct store *store, const char *key, size_t key_bytes) {
  return (uint32_t)XXH3_64bits_withSeed(key, key_bytes, store->seed);
}

struct store_object *store_open(struct store *store, const char *key, size_t key_bytes,
                                uint64_t now) {
  struct store_object *object = NULL;
  const uint32_t hash = store_hash(store, key, key_bytes);
  if (store->shared == NULL)
    object = open_own(store->core, hash, key, key_bytes, now);
  else if (enter(store)) {
    object = core_open(store->core, hash, key, key_bytes, now);
    *held(store) += object != NULL;
    leave(store);
  }
  struct stripe *stripe = memory_stripe(store);
  memory_count(object != NULL ? &stripe->hits : &stripe->misses, 1);
  return object;
}

static void forget_own(struct core *core, struct store_object *dead) {
  SECTION(core) {
    for (struct store_object *object = dead; object != NULL; object = object->next)
      core_forget(core, object);
  }
}

/* Nobody holds them, and nobody finds them. */
static void free_dead(struct store *store, struct store_object *dead) {
  if (store->shared == NULL)
    forget_own(store->core, dead);
  else
    for (struct store_object *object = dead; object != NULL; object = object->next)
      core_forget(store->core, object);
  memory_bury(store, dead);
}

void store_settle(struct store *store, const struct after *after) {
  struct store_object *dead = NULL;
  for (struct store_object *object = after->unlinked; object != NULL;) {
    struct store_object *next = object->next;
    if (core_settle(object)) {
      object->next = dead;
      dead = object;
    }
    object = next;
  }
  if (dead != NULL)
    free_dead(store, dead);
  struct stripe *stripe = memory_stripe(store);
  if (after->evicted != 0)
    memory_count(&stripe->evictions, after->evicted);
  if (after->replaced != 0)
    memory_count(&stripe->replacements, after->replaced);
}

void store_retain(struct store *store, struct store_object *object, uint32_t references) {
  if (store->shared == NULL) {
    core_retain(object, references);
    return;
  }
  if (shared_enter(store->shared, store->core))
    core_retain(object, references);
  *held(store) += references;
  leave(store);
}

static void release(struct store *store, struct store_object *object) {
  if (!core_release(object))
    return;
  object->next = NULL;
  free_dead(store, object);
}

void store_release(struct store *store, struct store_object *object) {
  if (store->shared == NULL) {
    release(store, object);
    return;
  }
  if (shared_enter(store->shared, store->core))
    release(store, object);
  --*held(store);
  leave(store);
}

/* With `body` not null, its object is given one more owner. */
static bool charge(struct core *core, size_t bytes, struct body *body, bool *charged,
                   struct after *after) {
  const bool may = core_charge(core, bytes, charged, after);
  if (*charged && body != NULL)
    body->references++;
  return may;
}

static bool charge_own(struct core *core, size_t bytes, struct body *body, bool *charged,
                       struct after *after) {
  SECTION(core) { return charge(core, bytes, body, charged, after); }
  return false;
}

/* Bytes are charged, whoever must go for them; a shared store is entered. */
static bool make_room(struct store *store, size_t bytes, struct body *body) {
  bool charged = false;
  for (bool may = true; may && !charged;) {
    struct after after = {0};
    may = store->shared == NULL ? charge_own(store->core, bytes, body, &charged, &after)
                                : charge(store->core, bytes, body, &charged, &after);
    store_settle(store, &after);
  }
  return charged;
}

/* Memory that is charged, in a segment that may have room, but not in one piece. */
static void *take_shared(struct store *store, size_t bytes) {
  for (;;) {
    void *memory = memory_take(store, bytes);
    struct after after = {0};
    if (memory != NULL || !core_evict(store->core, &after))
      return memory;
    store_settle(store, &after);
  }
}

static void *take_own(struct store *store, size_t bytes, size_t cost, struct body *body) {
  void *memory = memory_take(store, bytes);
  if (memory == NULL || make_room(store, cost, body))
    return memory;
  memory_give(store, memory);
  return NULL;
}

/* Memory, charged; null where there is no room. A shared store is entered. `body`: null, or one
 * that the memory is to own, too. */
static void *take(struct store *store, size_t bytes, struct body *body) {
  const size_t cost = core_cost(store->core, bytes);
  void *memory = NULL;
  if (store->shared == NULL)
    memory = take_own(store, bytes, cost, body);
  else if (make_room(store, cost, body)) {
    memory = take_shared(store, bytes);
    if (memory == NULL) {
      store->core->charged -= cost;
      if (body != NULL)
        body->references--;
    }
  }
  if (memory != NULL)
    memory_count(&memory_stripe(store)->charged, cost);
  return memory;
}

static void refuse(struct store *store) { memory_count(&memory_stripe(store)->refusals, 1); }

/* As store_make and store_remake, with `body` or without; a shared store is entered. */
static struct store_object *make(struct store *store, struct body *body, const char *key,
                                 size_t key_bytes, const void *head, size_t head_bytes) {
  const size_t bytes = sizeof(struct store_object) + head_bytes + key_bytes;
  if (head_bytes > UINT32_MAX || key_bytes > UINT32_MAX)
    return NULL;
  struct store_object *object = take(store, bytes, body);
  if (object == NULL)
    return NULL;
  *object = (struct store_object){
      .hash = store_hash(store, key, key_bytes),
      .body = body,
      .count = 1,
      .key_bytes = (uint32_t)key_bytes,
      .head_bytes = (uint32_t)head_bytes,
  };
  if (head_bytes != 0)
    memcpy(object->text, head, head_bytes);
  memcpy(object->text + head_bytes, key, key_bytes);
  return object;
}

struct store_object *store_remake(struct store *store, struct store_object *from, const char *key,
                                  size_t key_bytes, const void *head, size_t head_bytes) {
  struct store_object *object = NULL;
  struct body *body = from != NULL ? from->body : NULL;
  if (store->shared == NULL)
    object = make(store, body, key, key_bytes, head, head_bytes);
  else if (enter(store)) {
    object = make(store, body, key, key_bytes, head, head_bytes);
    *held(store) += object != NULL;
    leave(store);
  }
  if (object == NULL)
    refuse(store);
  return object;
}

struct store_object *store_make(struct store *store, const char *key, size_t key_bytes,
                                const void *head, size_t head_bytes) {
  return store_remake(store, NULL, key, key_bytes, head, head_bytes);
}

/* A body, with its first part. */
static bool add_body(struct store *store, struct store_object *object, size_t room) {
  struct body *body = take(store, sizeof *body + room, NULL);
  if (body == NULL)
    return false;
  body->references = 1;
  body->bytes = 0;
  body->charge = core_cost(store->core, sizeof *body + room);
  body->last = &body->first;
  body->first.next = NULL;
  body->first.bytes = 0;
  body->first.room = (uint32_t)room;
  object->body = body;
  return true;
}

static bool add_part(struct store *store, struct body *body, size_t room) {
  struct part *part = take(store, sizeof *part + room, NULL);
  if (part == NULL)
    return false;
  part->next = NULL;
  part->bytes = 0;
  part->room = (uint32_t)room;
  body->charge += core_cost(store->core, sizeof *part + room);
  body->last->next = part;
  body->last = part;
  return true;
}

static size_t room_for(size_t bytes, size_t expected) {
  size_t room = expected > bytes ? expected : bytes;
  if (expected == 0 && room < kStreamedPart)
    room = kStreamedPart;
  return room < kLargestPart ? room : kLargestPart;
}

/* Room for more of the body. */
static bool add_room(struct store *store, struct store_object *object, size_t room) {
  struct body *body = object->body;
  if (body == NULL)
    return add_body(store, object, room);
  return body->last->bytes < body->last->room || add_part(store, body, room);
}

static bool append(struct store *store, struct store_object *object, const char *data, size_t bytes,
                   size_t expected) {
  while (bytes != 0) {
    if (!add_room(store, object, room_for(bytes, expected)))
      return false;
    struct body *body = object->body;
    struct part *part = body->last;
    const size_t left = part->room - part->bytes;
    const size_t now = bytes < left ? bytes : left;
    memcpy(part->data + part->bytes, data, now);
    part->bytes += (uint32_t)now;
    body->bytes += now;
    data += now;
    bytes -= now;
    expected = expected > now ? expected - now : 0;
  }
  return true;
}

bool store_append(struct store *store, struct store_object *object, const char *data, size_t bytes,
                  size_t expected) {
  bool done = bytes == 0;
  if (!done && store->shared == NULL)
    done = append(store, object, data, bytes, expected);
  else if (!done && enter(store)) {
    done = append(store, object, data, bytes, expected);
    leave(store);
  }
  if (!done)
    refuse(store);
  return done;
}

/* The last part gives back what it has not used; how much that was charged with. */
static size_t trim(struct store *store, struct store_object *object) {
  struct body *body = object->body;
  if (body == NULL || body->references != 1 || body->last->bytes == body->last->room)
    return 0;
  struct part *last = body->last;
  const size_t before = last->room;
  last->room = last->bytes;
  size_t less;
  if (last == &body->first) {
    less = core_cost(store->core, sizeof *body + before) -
           core_cost(store->core, sizeof *body + last->room);
    object->body = body = memory_shrink(store, body, sizeof *body + last->room);
    body->last = &body->first;
  } else {
    less = core_cost(store->core, sizeof *last + before) -
           core_cost(store->core, sizeof *last + last->room);
    struct part *previous = &body->first;
    while (previous->next != last)
      previous = previous->next;
    previous->next = body->last = memory_shrink(store, last, sizeof *last + last->room);
  }
  body->charge -= less;
  return less;
}

static void link_own(struct core *core, struct store_object *object, uint64_t now, size_t less,
                     struct after *after) {
  SECTION(core) {
    core->charged -= less;
    core_link(core, object, now, after);
  }
}

bool store_commit(struct store *store, struct store_object *object, uint64_t now) {
  struct after after = {0};
  const bool own = store->shared == NULL;
  if (!own && !enter(store))
    return false;
  const size_t less = trim(store, object);
  core_offer(object);
  if (own)
    link_own(store->core, object, now, less, &after);
  else {
    store->core->charged -= less;
    core_link(store->core, object, now, &after);
  }
  store_settle(store, &after);
  if (!own)
    leave(store);
  struct stripe *stripe = memory_stripe(store);
  memory_count(&stripe->commits, 1);
  memory_count(&stripe->charged, -(uint64_t)less);
  return true;
}

static bool unlink_object(struct core *core, struct store_object *object, struct after *after) {
  if (object->slot == 0)
    return false;
  core_unlink(core, object, after);
  return true;
}

static bool unlink_own(struct core *core, struct store_object *object, struct after *after) {
  SECTION(core) { return unlink_object(core, object, after); }
  return false;
}

bool store_remove(struct store *store, struct store_object *object) {
  struct after after = {0};
  bool removed = false;
  if (store->shared == NULL) {
    removed = unlink_own(store->core, object, &after);
    store_settle(store, &after);
  } else if (enter(store)) {
    removed = unlink_object(store->core, object, &after);
    store_settle(store, &after);
    leave(store);
  }
  if (removed)
    memory_count(&memory_stripe(store)->removals, 1);
  return removed;
}

/* One flag, which nothing else depends on: no order is needed. */
void store_invalidate(struct store *store, struct store_object *object) {
  (void)store;
  __atomic_store_n(&object->invalidated, true, __ATOMIC_RELAXED);
}
bool store_is_invalidated(struct store *store, struct store_object *object) {
  (void)store;
  return __atomic_load_n(&object->invalidated, __ATOMIC_RELAXED);
}

const void *store_head(const struct store_object *object, size_t *bytes) {
  *bytes = object->head_bytes;
  return object->text;
}

size_t store_body_bytes(const struct store_object *object) {
  return object->body != NULL ? object->body->bytes : 0;
}

bool store_next_part(const struct store_object *object, const void **cursor, const char **data,
                     size_t *bytes) {
  const struct part *part = *cursor;
  if (part == NULL)
    part = object->body != NULL ? &object->body->first : NULL;
  else
    part = part->next;
  if (part == NULL)
    return false;
  *cursor = part;
  *data = part->data;
  *bytes = part->bytes;
  return true;
}

static void add_stripe(struct store_counts *counts, const struct stripe *stripe) {
  counts->hits += __atomic_load_n(&stripe->hits, __ATOMIC_RELAXED);
  counts->misses += __atomic_load_n(&stripe->misses, __ATOMIC_RELAXED);
  counts->commits += __atomic_load_n(&stripe->commits, __ATOMIC_RELAXED);
  counts->replacements += __atomic_load_n(&stripe->replacements, __ATOMIC_RELAXED);
  counts->evictions += __atomic_load_n(&stripe->evictions, __ATOMIC_RELAXED);
  counts->removals += __atomic_load_n(&stripe->removals, __ATOMIC_RELAXED);
  counts->refusals += __atomic_load_n(&stripe->refusals, __ATOMIC_RELAXED);
  counts->charged += __atomic_load_n(&stripe->charged, __ATOMIC_RELAXED);
}

void store_count(struct store *store, struct store_counts *counts) {
  *counts = (struct store_counts){.most_objects = store->core->most_objects,
                                  .most_bytes = store->core->most_bytes};
  for (int i = 0; i < kStripes; i++)
    add_stripe(counts, &store->stripes[i]);
  counts->linked = counts->commits - counts->replacements - counts->evictions - counts->removals;
  if (store->shared == NULL)
    return;
  shared_enter(store->shared, store->core);
  counts->rebuilds = store->shared->rebuilds;
  counts->linked = store->core->linked;
  counts->charged = store->core->charged;
  leave(store);
}

const char *store_check(struct store *store, uint64_t references) {
  const char *wrong = core_check(store->core, references);
  struct store_counts counts;
  store_count(store, &counts);
  if (wrong == NULL &&
      (counts.linked != store->core->linked || counts.charged != store->core->charged))
    wrong = "what was counted is not what is there";
  if (wrong == NULL && store->shared != NULL) {
    const size_t left = segment_available(store->shared->segment);
    if (left == 0 || left + store->core->charged > store->shared->bytes)
      wrong = "blocks of the segment contradict each other";
  }
  return wrong;
}

const char *store_variant(void) { return STORE_VARIANT; }
