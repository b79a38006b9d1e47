/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is inside a store: objects, the table that finds them, the heap that knows who goes first.
 * No function here takes a lock or is a section: the caller is in one.
 *
 * A hit writes the object only: its references and its priority. The heap has the priority that the
 * object had when the heap last looked, which is never above the present one, since priorities only
 * grow. So the object at the top of the heap is compared again before it is evicted, and sinks
 * where it was hit meanwhile: the same objects go as if the heap were kept in order at each hit.
 */
#pragma once

#include "segment.h"
#include "store.h"

#include <pthread.h>

struct part {
  struct part *next;
  uint32_t bytes, room; /* bytes <= room <= kLargestPart of store.c */
  char data[];
};

/* Of one object, or of several that differ in their heads. */
struct body {
  uint32_t references; /* objects */
  size_t bytes;
  size_t charge; /* of it and its parts */
  struct part *last;
  struct part first; /* in one block with it */
};

struct store_object {
  struct store_object *next; /* in the table; then among the dead */
  uint64_t hash;
  uint64_t priority;
  struct body *body; /* may be null */
  size_t charge;     /* without the body's */
  uint32_t references;
  uint32_t frequency;
  uint32_t slot; /* in the heap, from 1; 0: it is not linked */
  uint32_t key_bytes, head_bytes;
  bool invalidated;
  bool frees_body;         /* of a dead one: it was the body's last */
  _Alignas(8) char text[]; /* head, then key */
};

struct slot {
  uint64_t priority;
  struct store_object *object;
};

struct core {
  pthread_mutex_t mutex; /* of STORE_MUTEX */
  struct store_object **table;
  struct slot *heap; /* [1] to [linked] */
  uint64_t mask;     /* of the table */
  uint64_t inflation;
  size_t charged, most_bytes;
  uint32_t linked, most_objects;
  enum store_policy policy;
};

/* What a section leaves to do behind it. */
struct after {
  struct store_object *dead;  /* memory to free */
  uint32_t evicted, replaced; /* objects, to be counted */
};

/* Result: null, or that object. */
struct store_object *core_find(const struct core *core, uint64_t hash, const char *key,
                               size_t key_bytes);
/* The same, with one more reference; it was asked for. */
struct store_object *core_open(struct core *core, uint64_t hash, const char *key, size_t key_bytes,
                               uint64_t now);
/* The object was asked for. */
void core_touch(struct core *core, struct store_object *object, uint64_t now);
/* One reference less. Who was the last is among the dead. */
void core_drop(struct core *core, struct store_object *object, struct after *after);
/* Makes room for `bytes`, and charges them; false, and nothing is charged, where there is none. */
bool core_charge(struct core *core, size_t bytes, struct after *after);
/* Evicts one; false where there is none. */
bool core_evict(struct core *core, struct after *after);
void core_link(struct core *core, struct store_object *object, uint64_t now, struct after *after);
void core_unlink(struct core *core, struct store_object *object, struct after *after);
/* Nothing is in it. */
void core_clear(struct core *core);
/* As store_check. */
const char *core_check(const struct core *core, uint64_t references);

static inline const char *object_key(const struct store_object *object) {
  return object->text + object->head_bytes;
}
