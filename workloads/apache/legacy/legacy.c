/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The algorithm of httpd 2.2's mod_mem_cache behind the interface of the store: a chained hash of
 * nodes that are allocated one by one, a binary heap that is put in order at each hit, and one lock
 * with seven regions, which allocate, free and log. References are counted by atomic instructions.
 * Written as such a module is, with nothing about transactions in it: for measuring what it takes
 * to make sections of its lock (convert.toml).
 */
#include "../store/store.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct store_object {
  char *key;
  size_t key_bytes;
  void *head;
  size_t head_bytes;
  char *body;
  size_t body_bytes, room;
  size_t size; /* as it is charged; 0 before it is in the cache */
  uint32_t references;
  uint32_t frequency;
  uint64_t priority;
  size_t position; /* in the heap */
  bool complete;
  bool linked;
  bool invalidated;
};

struct node {
  struct node *next;
  struct store_object *object;
};

struct store {
  pthread_mutex_t lock;
  struct node **buckets;
  size_t bucket_count;
  struct store_object **heap; /* [0] to [count - 1] */
  size_t count, bytes;
  struct store_settings settings;
  uint64_t clock; /* of GDSF */
  FILE *log;      /* of evictions; null: none */
  struct store_counts counts;
};

static size_t hash(const char *key, size_t bytes) {
  size_t value = 5381;
  for (size_t i = 0; i < bytes; i++)
    value = value * 33 + (unsigned char)key[i];
  return value;
}

static void place(struct store *store, size_t position, struct store_object *object) {
  store->heap[position] = object;
  object->position = position;
}

static void rise(struct store *store, size_t position, struct store_object *object) {
  while (position > 0 && store->heap[(position - 1) / 2]->priority > object->priority) {
    place(store, position, store->heap[(position - 1) / 2]);
    position = (position - 1) / 2;
  }
  place(store, position, object);
}

static void sink(struct store *store, size_t position, struct store_object *object) {
  for (size_t child; (child = 2 * position + 1) < store->count; position = child) {
    if (child + 1 < store->count && store->heap[child + 1]->priority < store->heap[child]->priority)
      child++;
    if (store->heap[child]->priority >= object->priority)
      break;
    place(store, position, store->heap[child]);
  }
  place(store, position, object);
}

static void update_priority(struct store *store, struct store_object *object, uint64_t now) {
  object->frequency++;
  if (store->settings.policy == STORE_LRU)
    object->priority = now;
  else
    object->priority = store->clock + ((uint64_t)object->frequency << 24) / object->size;
}

static struct store_object *find(struct store *store, const char *key, size_t bytes) {
  for (struct node *node = store->buckets[hash(key, bytes) % store->bucket_count]; node != NULL;
       node = node->next)
    if (node->object->key_bytes == bytes && memcmp(node->object->key, key, bytes) == 0)
      return node->object;
  return NULL;
}

static void destroy(struct store_object *object) {
  free(object->key);
  free(object->head);
  free(object->body);
  free(object);
}

static void drop(struct store_object *object) {
  if (__atomic_sub_fetch(&object->references, 1, __ATOMIC_ACQ_REL) == 0)
    destroy(object);
}

/* Out of hash and heap; the cache's reference is dropped. */
static void take_out(struct store *store, struct store_object *object) {
  struct node **link = &store->buckets[hash(object->key, object->key_bytes) % store->bucket_count];
  while ((*link)->object != object)
    link = &(*link)->next;
  struct node *node = *link;
  *link = node->next;
  free(node);
  struct store_object *last = store->heap[--store->count];
  if (last != object) {
    const size_t position = object->position;
    if (position > 0 && store->heap[(position - 1) / 2]->priority > last->priority)
      rise(store, position, last);
    else
      sink(store, position, last);
  }
  store->bytes -= object->size;
  object->linked = false;
  drop(object);
}

static void evict(struct store *store) {
  struct store_object *victim = store->heap[0];
  store->clock = victim->priority;
  store->counts.evictions++;
  if (store->log != NULL)
    fprintf(store->log, "evicted %.*s\n", (int)victim->key_bytes, victim->key);
  take_out(store, victim);
}

static void insert(struct store *store, struct store_object *object, uint64_t now) {
  struct node *node = malloc(sizeof *node);
  if (node == NULL)
    return;
  while (store->count != 0 && (store->count >= store->settings.objects ||
                               store->bytes + object->size > store->settings.bytes))
    evict(store);
  struct node **bucket =
      &store->buckets[hash(object->key, object->key_bytes) % store->bucket_count];
  *node = (struct node){*bucket, object};
  *bucket = node;
  store->bytes += object->size;
  object->linked = true;
  __atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
  update_priority(store, object, now);
  store->count++;
  rise(store, store->count - 1, object);
}

static size_t size_of(const struct store_object *object) {
  return sizeof *object + object->key_bytes + object->head_bytes + object->body_bytes;
}

struct store *store_create(const struct store_settings *settings) {
  struct store *store = calloc(1, sizeof *store);
  if (store == NULL || settings->shared) {
    free(store);
    errno = settings->shared ? ENOTSUP : ENOMEM;
    return NULL;
  }
  store->settings = *settings;
  store->bucket_count = 2 * (size_t)settings->objects + 1;
  store->buckets = calloc(store->bucket_count, sizeof(struct node *));
  store->heap = calloc(settings->objects, sizeof(struct store_object *));
  if (store->buckets == NULL || store->heap == NULL) {
    free(store->buckets);
    free(store->heap);
    free(store);
    errno = ENOMEM;
    return NULL;
  }
  pthread_mutex_init(&store->lock, NULL);
  const char *log = getenv("LEGACY_LOG");
  store->log = log != NULL ? fopen(log, "w") : NULL;
  return store;
}

/* cleanup_cache_mem */
void store_destroy(struct store *store) {
  pthread_mutex_lock(&store->lock);
  while (store->count != 0)
    take_out(store, store->heap[0]);
  pthread_mutex_unlock(&store->lock);
  if (store->log != NULL)
    fclose(store->log);
  free(store->buckets);
  free(store->heap);
  free(store);
}

bool store_join(struct store *store) {
  (void)store;
  return true;
}
void store_leave(struct store *store) { (void)store; }

/* open_entity */
struct store_object *store_open(struct store *store, const char *key, size_t key_bytes,
                                uint64_t now) {
  pthread_mutex_lock(&store->lock);
  struct store_object *object = find(store, key, key_bytes);
  if (object != NULL && !object->complete)
    object = NULL;
  if (object != NULL) {
    __atomic_add_fetch(&object->references, 1, __ATOMIC_RELAXED);
    update_priority(store, object, now);
    sink(store, object->position, object);
    store->counts.hits++;
  } else
    store->counts.misses++;
  pthread_mutex_unlock(&store->lock);
  return object;
}

void store_retain(struct store *store, struct store_object *object, uint32_t references) {
  (void)store;
  __atomic_add_fetch(&object->references, references, __ATOMIC_RELAXED);
}

/* decrement_refcount */
void store_release(struct store *store, struct store_object *object) {
  pthread_mutex_lock(&store->lock);
  /* Nobody will complete what its maker lets go. */
  if (!object->complete && object->linked)
    take_out(store, object);
  drop(object);
  pthread_mutex_unlock(&store->lock);
}

/* create_entity: where there is none with that key, the new one is in the cache, incomplete. */
struct store_object *store_make(struct store *store, const char *key, size_t key_bytes,
                                const void *head, size_t head_bytes) {
  struct store_object *object = calloc(1, sizeof *object);
  if (object == NULL)
    return NULL;
  object->references = 1;
  object->key_bytes = key_bytes;
  object->head_bytes = head_bytes;
  object->key = malloc(key_bytes + 1);
  object->head = malloc(head_bytes + 1);
  if (object->key == NULL || object->head == NULL) {
    destroy(object);
    return NULL;
  }
  memcpy(object->key, key, key_bytes);
  memcpy(object->head, head, head_bytes);
  object->size = size_of(object);
  pthread_mutex_lock(&store->lock);
  if (find(store, key, key_bytes) == NULL)
    insert(store, object, 0);
  pthread_mutex_unlock(&store->lock);
  return object;
}

bool store_append(struct store *store, struct store_object *object, const char *data, size_t bytes,
                  size_t expected) {
  if (object->body_bytes + bytes > store->settings.bytes / 2)
    return false;
  if (object->body_bytes + bytes > object->room) {
    size_t room = object->body_bytes + (expected > bytes ? expected : bytes);
    if (expected == 0 && room < 2 * object->room)
      room = 2 * object->room;
    char *body = realloc(object->body, room);
    if (body == NULL)
      return false;
    object->body = body;
    object->room = room;
  }
  memcpy(object->body + object->body_bytes, data, bytes);
  object->body_bytes += bytes;
  return true;
}

/* store_body, at its end: the object is taken out if it is in, and comes back with its size. */
bool store_commit(struct store *store, struct store_object *object, uint64_t now) {
  pthread_mutex_lock(&store->lock);
  struct store_object *old = find(store, object->key, object->key_bytes);
  if (old != NULL) {
    store->counts.replacements += old != object;
    object->frequency = old->frequency;
    take_out(store, old);
  }
  object->size = size_of(object);
  object->complete = true;
  insert(store, object, now);
  store->counts.commits++;
  pthread_mutex_unlock(&store->lock);
  return true;
}

struct store_object *store_remake(struct store *store, struct store_object *from, const char *key,
                                  size_t key_bytes, const void *head, size_t head_bytes) {
  struct store_object *object = store_make(store, key, key_bytes, head, head_bytes);
  if (object != NULL && from->body_bytes != 0 &&
      !store_append(store, object, from->body, from->body_bytes, from->body_bytes)) {
    store_release(store, object);
    return NULL;
  }
  return object;
}

/* remove_entity and remove_url */
bool store_remove(struct store *store, struct store_object *object) {
  pthread_mutex_lock(&store->lock);
  const bool linked = object->linked;
  if (linked) {
    take_out(store, object);
    store->counts.removals++;
  }
  pthread_mutex_unlock(&store->lock);
  return linked;
}

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
  return object->head;
}
size_t store_body_bytes(const struct store_object *object) { return object->body_bytes; }
bool store_next_part(const struct store_object *object, const void **cursor, const char **data,
                     size_t *bytes) {
  if (*cursor != NULL || object->body_bytes == 0)
    return false;
  *cursor = *data = object->body;
  *bytes = object->body_bytes;
  return true;
}

void store_count(struct store *store, struct store_counts *counts) {
  pthread_mutex_lock(&store->lock);
  *counts = store->counts;
  counts->linked = store->count;
  counts->charged = store->bytes;
  pthread_mutex_unlock(&store->lock);
  counts->most_objects = store->settings.objects;
  counts->most_bytes = store->settings.bytes;
}

const char *store_check(struct store *store, uint64_t references) {
  size_t bytes = 0;
  for (size_t i = 0; i < store->count; i++) {
    const struct store_object *object = store->heap[i];
    bytes += object->size;
    if (object->position != i || find(store, object->key, object->key_bytes) != object)
      return "an object is not where the heap has it";
    if (i > 0 && store->heap[(i - 1) / 2]->priority > object->priority)
      return "the heap is not in order";
    if (references == 0 && object->references != 1)
      return "references are left";
  }
  if (bytes != store->bytes || bytes > store->settings.bytes ||
      store->count > store->settings.objects)
    return "a cap does not hold";
  return NULL;
}

const char *store_variant(void) { return "legacy"; }
