/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "handle.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <unistd.h>

void *memory_take(struct store *store, size_t bytes) {
  return store->shared != NULL ? segment_allocate(store->shared->segment, bytes) : malloc(bytes);
}

void memory_give(struct store *store, void *memory) {
  if (store->shared != NULL)
    segment_free(store->shared->segment, memory);
  else
    free(memory);
}

void *memory_shrink(struct store *store, void *memory, size_t bytes) {
  if (store->shared != NULL) {
    segment_shrink(store->shared->segment, memory, bytes);
    return memory;
  }
  void *moved = realloc(memory, bytes);
  return moved != NULL ? moved : memory;
}

/* What it was charged with. */
static size_t bury(struct store *store, struct store_object *object) {
  size_t charge = object_charge(store->core, object);
  if (object->body != NULL) {
    charge += object->body->charge;
    for (struct part *part = object->body->first.next; part != NULL;) {
      struct part *next = part->next;
      memory_give(store, part);
      part = next;
    }
    memory_give(store, object->body);
  }
  memory_give(store, object);
  return charge;
}

void memory_bury(struct store *store, struct store_object *dead) {
  size_t freed = 0;
  while (dead != NULL) {
    struct store_object *next = dead->next;
    freed += bury(store, dead);
    dead = next;
  }
  memory_count(&memory_stripe(store)->charged, -(uint64_t)freed);
}

struct stripe *memory_stripe(struct store *store) {
  static unsigned threads;
  static _Thread_local unsigned mine;
  if (mine == 0)
    mine = __atomic_add_fetch(&threads, 1, __ATOMIC_RELAXED); /* only to be different */
  return &store->stripes[mine % kStripes];
}

static uint64_t table_size(uint32_t objects) {
  uint64_t size = 64;
  while (size < objects)
    size *= 2;
  return size;
}

static size_t rounded(size_t bytes) { return (bytes + 63) & ~(size_t)63; }

/* Whether the machine has that much at all. */
static bool fits_memory(size_t bytes) {
  const long pages = sysconf(_SC_PHYS_PAGES);
  const long page = sysconf(_SC_PAGESIZE);
  return pages <= 0 || page <= 0 || bytes / (size_t)page <= (size_t)pages;
}

static bool make_own(struct store *store, uint64_t table, uint32_t objects) {
  store->core = calloc(1, sizeof *store->core);
  store->stripes = aligned_alloc(64, kStripes * sizeof(struct stripe));
  if (store->core == NULL || store->stripes == NULL)
    return false;
  memset(store->stripes, 0, kStripes * sizeof(struct stripe));
  store->core->table = calloc(table, sizeof(struct store_object *));
  store->core->heap = calloc((size_t)objects + 1, sizeof(struct slot));
  return store->core->table != NULL && store->core->heap != NULL;
}

static bool make_shared(struct store *store, uint64_t table, uint32_t objects, size_t bytes) {
  const size_t sizes[] = {rounded(sizeof(struct core)),
                          rounded(kStripes * sizeof(struct stripe)),
                          rounded(sizeof(struct shared)),
                          rounded(table * sizeof(void *)),
                          rounded(((size_t)objects + 1) * sizeof(struct slot)),
                          rounded(bytes)};
  size_t all = 0;
  for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++)
    all += sizes[i];
  char *at = mmap(NULL, all, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (at == MAP_FAILED)
    return false;
  store->mapping = at;
  store->mapping_bytes = all;
  store->core = (struct core *)at;
  store->stripes = (struct stripe *)(at += sizes[0]);
  store->shared = (struct shared *)(at += sizes[1]);
  store->core->table = (struct store_object **)(at += sizes[2]);
  store->core->heap = (struct slot *)(at += sizes[3]);
  at += sizes[4];
  shared_make(store->shared, at, bytes);
  return store->shared->segment != NULL;
}

struct store *store_create(const struct store_settings *settings) {
  if (settings->bytes < STORE_LEAST_BYTES || settings->objects == 0 ||
      settings->objects > STORE_MOST_OBJECTS) {
    errno = EINVAL;
    return NULL;
  }
  const uint64_t table = table_size(settings->objects);
  struct store *store = calloc(1, sizeof *store);
  if (store == NULL || !fits_memory(settings->bytes) ||
      !(settings->shared ? make_shared(store, table, settings->objects, settings->bytes)
                         : make_own(store, table, settings->objects))) {
    if (store != NULL)
      store_destroy(store);
    errno = ENOMEM;
    return NULL;
  }
  struct core *core = store->core;
  core->mask = table - 1;
  core->policy = settings->policy;
  core->most_objects = settings->objects;
  core->most_bytes = settings->bytes;
  /* glibc's malloc has a size before each block. */
  core->block_bytes = settings->shared ? SEGMENT_BLOCK_BYTES : sizeof(size_t);
  pthread_mutex_init(&core->mutex, NULL);
  store->process = -1;
  if (getrandom(&store->seed, sizeof store->seed, 0) != (ssize_t)sizeof store->seed)
    store->seed = (uintptr_t)core;
  return store;
}

void store_destroy(struct store *store) {
  if (store->mapping != NULL)
    munmap(store->mapping, store->mapping_bytes);
  else if (store->core != NULL) {
    struct core *core = store->core;
    struct after after = {0};
    while (core->heap != NULL && core->table != NULL && core->linked != 0)
      core_unlink(core, core->heap[core->linked].object, &after);
    if (store->stripes != NULL)
      store_settle(store, &after);
    free(core->table);
    free(core->heap);
    free(core);
    free(store->stripes);
  }
  free(store);
}

bool store_join(struct store *store) {
  if (store->shared == NULL)
    return true;
  shared_enter(store->shared, store->core);
  store->process = shared_join(store->shared);
  shared_leave(store->shared);
  return store->process >= 0;
}

void store_leave(struct store *store) {
  if (store->shared == NULL || store->process < 0)
    return;
  shared_enter(store->shared, store->core);
  shared_part(store->shared, store->process);
  shared_leave(store->shared);
  /* What is still held is counted down in the slot, which stays this process's then. */
}
