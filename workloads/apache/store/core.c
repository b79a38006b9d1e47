/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "core.h"

#include <stdio.h>
#include <string.h>

struct store_object *core_find(const struct core *core, uint32_t hash, const char *key,
                               size_t key_bytes) {
  for (struct store_object *object = core->table[hash & core->mask]; object != NULL;
       object = object->next)
    if (object->hash == hash && object->key_bytes == key_bytes &&
        memcmp(object_key(object), key, key_bytes) == 0)
      return object;
  return NULL;
}

/* GDSF: inflation + frequency * cost / size, with the same cost for all. In units of 2^-24 of a
 * byte's reciprocal, so that the largest sizes still differ, and the smallest do not overflow. */
static uint64_t gdsf(const struct core *core, const struct store_object *object) {
  const size_t body = object->body != NULL ? object->body->charge : 0;
  return core->inflation +
         ((uint64_t)object->frequency << 24) / (object_charge(core, object) + body);
}

void core_touch(struct core *core, struct store_object *object, uint64_t now) {
  if (core->policy == STORE_LRU) {
    if (object->priority < now)
      object->priority = now;
    return;
  }
  if (object->frequency < UINT32_MAX)
    object->frequency++;
  object->priority = gdsf(core, object);
}

struct store_object *core_open(struct core *core, uint32_t hash, const char *key, size_t key_bytes,
                               uint64_t now) {
  struct store_object *object = core_find(core, hash, key, key_bytes);
  if (object != NULL) {
    object->opened++;
    core_touch(core, object, now);
  }
  return object;
}

void core_forget(struct core *core, struct store_object *object) {
  size_t freed = object_charge(core, object);
  struct body *body = object->body;
  if (body != NULL && --body->references == 0)
    freed += body->charge;
  else
    object->body = NULL;
  core->charged -= freed;
}

static void place(struct core *core, uint32_t slot, struct slot what) {
  core->heap[slot] = what;
  what.object->slot = slot;
}

static void rise(struct core *core, uint32_t slot, struct slot what) {
  while (slot > 1 && core->heap[slot / 2].priority > what.priority) {
    place(core, slot, core->heap[slot / 2]);
    slot /= 2;
  }
  place(core, slot, what);
}

static void sink(struct core *core, uint32_t slot, struct slot what) {
  for (uint32_t child; (child = 2 * slot) <= core->linked; slot = child) {
    if (child < core->linked && core->heap[child + 1].priority < core->heap[child].priority)
      child++;
    if (core->heap[child].priority >= what.priority)
      break;
    place(core, slot, core->heap[child]);
  }
  place(core, slot, what);
}

/* Takes it out of the heap. */
static void leave_heap(struct core *core, struct store_object *object) {
  const uint32_t slot = object->slot;
  const struct slot last = core->heap[core->linked];
  object->slot = 0;
  core->linked--;
  if (last.object == object)
    return;
  if (slot > 1 && core->heap[slot / 2].priority > last.priority)
    rise(core, slot, last);
  else
    sink(core, slot, last);
}

void core_unlink(struct core *core, struct store_object *object, struct after *after) {
  struct store_object **link = &core->table[object->hash & core->mask];
  while (*link != object)
    link = &(*link)->next;
  *link = object->next;
  leave_heap(core, object);
  object->next = after->unlinked;
  after->unlinked = object;
}

bool core_evict(struct core *core, struct after *after) {
  if (core->linked == 0)
    return false;
  struct slot top = core->heap[1];
  while (top.object->priority > top.priority) {
    top.priority = top.object->priority;
    sink(core, 1, top);
    top = core->heap[1];
  }
  if (core->policy == STORE_GDSF && core->inflation < top.priority)
    core->inflation = top.priority;
  after->evicted++;
  core_unlink(core, top.object, after);
  return true;
}

bool core_charge(struct core *core, size_t bytes, bool *charged, struct after *after) {
  *charged = false;
  if (bytes > core->most_bytes)
    return false;
  const size_t most = core->most_bytes - bytes;
  if (core->charged <= most) {
    core->charged += bytes;
    *charged = true;
    return true;
  }
  size_t leaves = 0;
  for (const size_t too_much = core->charged - most; leaves < too_much;) {
    if (!core_evict(core, after))
      return leaves != 0;
    const struct store_object *evicted = after->unlinked;
    leaves += object_charge(core, evicted) + (evicted->body != NULL ? evicted->body->charge : 0);
  }
  return true;
}

void core_link(struct core *core, struct store_object *object, uint64_t now, struct after *after) {
  struct store_object *old = core_find(core, object->hash, object_key(object), object->key_bytes);
  if (old != NULL) {
    /* It is as popular as what it replaces. */
    object->frequency = old->frequency;
    after->replaced++;
    core_unlink(core, old, after);
  }
  while (core->linked >= core->most_objects)
    core_evict(core, after);
  core_touch(core, object, now);
  struct store_object **link = &core->table[object->hash & core->mask];
  object->next = *link;
  *link = object;
  core->linked++;
  rise(core, core->linked, (struct slot){object->priority, object});
}

void core_clear(struct core *core) {
  memset(core->table, 0, (core->mask + 1) * sizeof core->table[0]);
  core->linked = 0;
  core->charged = 0;
  core->inflation = 0;
}

const char *core_check(const struct core *core, uint64_t references) {
  static char text[128];
  uint64_t found = 0, charge = 0;
  int64_t held = 0;
  for (uint64_t i = 0; i <= core->mask; i++)
    for (const struct store_object *object = core->table[i]; object != NULL;
         object = object->next) {
      found++;
      held += (int64_t)object->opened + object->count + kLinked;
      charge += object_charge(core, object);
      /* Bodies of several objects count once, for one of them: only one can be linked. */
      charge += object->body != NULL ? object->body->charge : 0;
      if (object->slot == 0 || object->slot > core->linked ||
          core->heap[object->slot].object != object)
        return "an object is not where the heap has it";
      if (core->heap[object->slot].priority > object->priority)
        return "the heap has a priority that is above the object's";
    }
  for (uint32_t slot = 2; slot <= core->linked; slot++)
    if (core->heap[slot / 2].priority > core->heap[slot].priority)
      return "the heap is not in order";
  if (found != core->linked)
    snprintf(text, sizeof text, "the table has %llu objects, the heap %u",
             (unsigned long long)found, core->linked);
  else if (found > core->most_objects || core->charged > core->most_bytes)
    snprintf(text, sizeof text, "a cap does not hold: %llu objects, %zu bytes",
             (unsigned long long)found, core->charged);
  else if (references == 0 && held != 0)
    snprintf(text, sizeof text, "%lld references are left to %llu objects", (long long)held,
             (unsigned long long)found);
  else if (references == 0 && charge != core->charged)
    snprintf(text, sizeof text, "%zu bytes are charged, objects have %llu", core->charged,
             (unsigned long long)charge);
  else
    return NULL;
  return text;
}
