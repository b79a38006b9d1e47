// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "steps.h"

#include <tandem/tandem.hpp>
#include <tandem/transaction.hpp>

extern "C" {
struct core;
struct store_object *core_open(core *core, uint64_t hash, const char *key, size_t key_bytes,
                               uint64_t now);
uint64_t store_hash(const store *store, const char *key, size_t key_bytes);
core *steps_core(store *store); // main.c: the store's inside is C
}

store_object *open_closure(store *store, pool *pool, const char *key, size_t key_bytes,
                           uint64_t now) {
  const uint64_t hash = store_hash(store, key, key_bytes);
  core *const core = steps_core(store);
  return tandem::atomic([&] {
    store_object *const object = core_open(core, hash, key, key_bytes, now);
    if (object != nullptr)
      tandem::on_commit([=] { pool_register(pool, object); });
    return object;
  });
}
