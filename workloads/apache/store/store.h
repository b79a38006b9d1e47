/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A cache's store in memory: objects by key, each a head (bytes that the caller gives) and a body
 * that is appended to until the object is committed. It knows no HTTP and no server.
 *
 * All functions may be called by any thread; a shared store also by any process that was forked
 * from the one that made it. What a function gives is a reference, which store_release gives back;
 * memory of an object without references is freed. An object does not change once it
 * is committed (store_invalidate aside), so what refers to it reads it without any lock, while it
 * is replaced, evicted or removed.
 *
 * Invariants: charged == the sum of the charges of all objects and bodies that are not yet freed,
 * charged <= settings.bytes; linked <= settings.objects; the table and the heap have the same
 * objects, and hold one reference of each.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct store;
struct store_object;

/* Who goes first when there is no room. GDSF: who was asked for least often for its size, as time
 * goes by (Cherkasova 1998, "Improving WWW proxies performance with greedy-dual-size-frequency
 * caching policy"). LRU: the least recently used. */
enum store_policy { STORE_GDSF, STORE_LRU };

struct store_settings {
  size_t bytes;             /* of all objects, with what the store needs for each; 64 KB or more */
  uint32_t objects;         /* 1 to STORE_MOST_OBJECTS */
  enum store_policy policy; /* of evictions */
  bool shared;              /* between processes: all is in one mapping, of `bytes` and tables */
};
#define STORE_LEAST_BYTES ((size_t)64 << 10)
#define STORE_MOST_OBJECTS ((uint32_t)1 << 26)

/* Null where there is not that much memory, or the settings are out of range: errno says which. */
struct store *store_create(const struct store_settings *settings);
/* Every reference was given back. A shared store: this process's view of it. */
void store_destroy(struct store *store);

/* A shared store, in each process that will use it, once, before anything else, by a thread that
 * lives as long as the process. False where too many processes use it already. */
bool store_join(struct store *store);
/* The end of that. */
void store_leave(struct store *store);

/* The object with that key, and one reference to it; else null. `now`: any clock that all threads
 * share and that does not go back, for LRU. */
struct store_object *store_open(struct store *store, const char *key, size_t key_bytes,
                                uint64_t now);
/* More references to an object that one is held of; and one given back. */
void store_retain(struct store *store, struct store_object *object, uint32_t references);
void store_release(struct store *store, struct store_object *object);

/* A new object, which nobody else sees yet, and one reference; null where there is no room. */
struct store_object *store_make(struct store *store, const char *key, size_t key_bytes,
                                const void *head, size_t head_bytes);
/* A new object with the body of another one, to which a reference is held. */
struct store_object *store_remake(struct store *store, struct store_object *from, const char *key,
                                  size_t key_bytes, const void *head, size_t head_bytes);
/* Before store_commit, by the one thread that makes the object. `expected`: how many bytes will
 * follow in all, these included; 0 where that is unknown. False where there is no room, and the
 * object is then only to be released. */
bool store_append(struct store *store, struct store_object *object, const char *data, size_t bytes,
                  size_t expected);
/* The object is found from now on, instead of the one with the same key, if there is one. The
 * caller's reference stays. False where a shared store is about to be rebuilt. */
bool store_commit(struct store *store, struct store_object *object, uint64_t now);
/* The object is not found any more. False where it was not found before. */
bool store_remove(struct store *store, struct store_object *object);
/* The object says that it is not valid any more, for all who hold it. */
void store_invalidate(struct store *store, struct store_object *object);
bool store_is_invalidated(struct store *store, struct store_object *object);

/* What an object consists of, for who holds a reference. A head is aligned to 8 bytes. */
const void *store_head(const struct store_object *object, size_t *bytes);
size_t store_body_bytes(const struct store_object *object);
/* The next part of the body behind `*cursor`, which is null at first; false at the end. */
bool store_next_part(const struct store_object *object, const void **cursor, const char **data,
                     size_t *bytes);

struct store_counts {
  uint64_t hits, misses;             /* of store_open */
  uint64_t commits, replacements;    /* replacements are commits, too */
  uint64_t evictions, removals;      /* objects */
  uint64_t refusals;                 /* objects or parts that found no room */
  uint64_t rebuilds;                 /* of a shared store, after a process died */
  uint64_t linked, charged;          /* objects that can be found; bytes in use */
  uint64_t most_objects, most_bytes; /* the caps */
};
/* Each number is right by itself; together they may be of different moments. */
void store_count(struct store *store, struct store_counts *counts);

/* What is wrong with the store's invariants, in one line of a static buffer, else null. Nobody else
 * uses the store meanwhile. `references`: what everybody still holds in all. */
const char *store_check(struct store *store, uint64_t references);

/* How its sections are enforced: "sequential", "mutex" or "tandem". */
const char *store_variant(void);
