/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "steps.h"

#include "../store/handle.h"
#include "../store/section.h"

#include <tandem/transaction.h>

static struct store_object *inside(struct core *core, struct pool *pool, uint32_t hash,
                                   const char *key, size_t key_bytes, uint64_t now) {
  SECTION(core) {
    struct store_object *object = core_open(core, hash, key, key_bytes, now);
    if (object != NULL)
      pool_register(pool, object);
    return object;
  }
  return NULL;
}

struct store_object *open_inside(struct store *store, struct pool *pool, const char *key,
                                 size_t key_bytes, uint64_t now) {
  const uint32_t hash = store_hash(store, key, key_bytes);
  return inside(store->core, pool, hash, key, key_bytes, now);
}

static struct store_object *behind(struct core *core, uint32_t hash, const char *key,
                                   size_t key_bytes, uint64_t now) {
  SECTION(core) { return core_open(core, hash, key, key_bytes, now); }
  return NULL;
}

struct store_object *open_behind(struct store *store, struct pool *pool, const char *key,
                                 size_t key_bytes, uint64_t now) {
  const uint32_t hash = store_hash(store, key, key_bytes);
  struct store_object *object = behind(store->core, hash, key, key_bytes, now);
  if (object != NULL)
    pool_register(pool, object);
  return object;
}

struct registration {
  struct pool *pool;
  struct store_object *object;
};

static void register_later(void *argument) {
  const struct registration *it = argument;
  pool_register(it->pool, it->object);
}

static struct store_object *handler(struct core *core, struct pool *pool, uint32_t hash,
                                    const char *key, size_t key_bytes, uint64_t now) {
  SECTION(core) {
    struct store_object *object = core_open(core, hash, key, key_bytes, now);
    if (object != NULL) {
      const struct registration it = {pool, object};
      tandem_on_commit(register_later, &it, sizeof it);
    }
    return object;
  }
  return NULL;
}

struct store_object *open_handler(struct store *store, struct pool *pool, const char *key,
                                  size_t key_bytes, uint64_t now) {
  const uint32_t hash = store_hash(store, key, key_bytes);
  return handler(store->core, pool, hash, key, key_bytes, now);
}
