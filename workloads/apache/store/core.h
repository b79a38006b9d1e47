/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is inside a store: objects, the table that finds them, the heap that knows who goes first.
 * No function here takes a lock or is a section: the caller is in one.
 *
 * A hit writes the object only: how often it was opened, and its priority. The heap has the
 * priority that the object had when the heap last looked, which is never above the present one,
 * since priorities only grow. So the object at the top of the heap is compared again before it is
 * evicted, and sinks where it was hit meanwhile: the same objects go as if the heap were kept in
 * order at each hit.
 *
 * References are counted in two halves, so that giving one back is one atomic instruction and no
 * section. References of an object == opened + count + (linked ? kLinked : 0), where `opened` is
 * written in sections, as only an object that is linked is opened, and `count` by atomic
 * instructions outside of them. Who has unlinked it adds both that it is owed to `count`
 * (core_settle): before that `count` is far below 0, and after it who makes it 0 is the last.
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
  struct store_object *next; /* in the table; then of the unlinked, then of the dead */
  uint64_t priority;
  struct body *body; /* may be null; of a dead one also where it was not the body's last */
  uint64_t opened;
  int64_t count;
  uint32_t hash;
  uint32_t frequency;
  uint32_t slot; /* in the heap, from 1; 0: it is not linked */
  uint32_t key_bytes, head_bytes;
  bool invalidated;
  _Alignas(8) char text[]; /* head, then key */
};

/* Far more references than there can be, and opened can never be that. */
static const int64_t kLinked = (int64_t)1 << 62;

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
  size_t block_bytes; /* what a block of memory has besides what is asked for */
  uint32_t linked, most_objects;
  enum store_policy policy;
};

/* What a section leaves to do behind it. */
struct after {
  struct store_object *unlinked; /* to be settled */
  uint32_t evicted, replaced;    /* objects, to be counted */
};

/* Result: null, or that object. */
struct store_object *core_find(const struct core *core, uint32_t hash, const char *key,
                               size_t key_bytes);
/* The same, with one more reference; it was asked for. */
struct store_object *core_open(struct core *core, uint32_t hash, const char *key, size_t key_bytes,
                               uint64_t now);
/* The object was asked for. */
void core_touch(struct core *core, struct store_object *object, uint64_t now);
/* Charges bytes if there is room; else evicts objects until there will be room when the last
 * reference to what was unlinked is given back. `charged`: whether bytes were charged. Result:
 * false if there is nothing left to evict. */
bool core_charge(struct core *core, size_t bytes, bool *charged, struct after *after);
/* Evicts one; false where there is none. */
bool core_evict(struct core *core, struct after *after);
/* The object is the caller's alone, and core_offer was called. */
void core_link(struct core *core, struct store_object *object, uint64_t now, struct after *after);
void core_unlink(struct core *core, struct store_object *object, struct after *after);
/* Nobody holds the object any more, nor will: it, and the body where it was that one's last, is
 * charged no longer. */
void core_forget(struct core *core, struct store_object *object);
/* Nothing is in it. */
void core_clear(struct core *core);
/* As store_check. */
const char *core_check(const struct core *core, uint64_t references);

/* Outside of sections. Before core_link: */
static inline void core_offer(struct store_object *object) {
  __atomic_fetch_sub(&object->count, kLinked, __ATOMIC_RELAXED);
}
/* References come and go, of who holds one. Result: whether it was the last; who gave one back has
 * read the object before that (release), and who frees it does so after that (acquire). */
static inline void core_retain(struct store_object *object, uint32_t references) {
  __atomic_fetch_add(&object->count, (int64_t)references, __ATOMIC_RELAXED);
}
static inline bool core_release(struct store_object *object) {
  return __atomic_sub_fetch(&object->count, 1, __ATOMIC_ACQ_REL) == 0;
}
/* Once, of what was unlinked, behind the section; result as before. */
static inline bool core_settle(struct store_object *object) {
  const int64_t owed = (int64_t)object->opened + kLinked;
  return __atomic_add_fetch(&object->count, owed, __ATOMIC_ACQ_REL) == 0;
}

/* What a block of that size is charged with: multiples of 16, 32 at least. */
static inline size_t core_cost(const struct core *core, size_t bytes) {
  const size_t size = (bytes + core->block_bytes + 15) & ~(size_t)15;
  return size < 32 ? 32 : size;
}
/* Without the body's. */
static inline size_t object_charge(const struct core *core, const struct store_object *object) {
  return core_cost(core, sizeof *object + object->head_bytes + object->key_bytes);
}
static inline const char *object_key(const struct store_object *object) {
  return object->text + object->head_bytes;
}
