/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Four ways to look an object up and to register that its reference is to be given back, as
 * "Transactifying Apache's Cache Module" goes
 * through them: open_entity of mod_mem_cache with a pool's cleanup. The pool is a library's: no
 * compiler of ours sees it (pool_plain.c), so a call of it cannot be undone.
 */
#pragma once

#include "../store/store.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Of one thread. */
struct pool {
  struct store_object **registered;
  size_t count, room;
};
void pool_register(struct pool *pool, struct store_object *object);

typedef struct store_object *open_step(struct store *store, struct pool *pool, const char *key,
                                       size_t key_bytes, uint64_t now);
open_step open_inside;  /* registers in the section: irrevocable */
open_step open_behind;  /* behind the section */
open_step open_handler; /* in a commit handler, a function with an argument */
open_step open_closure; /* in a commit handler, a lambda of C++ */

#ifdef __cplusplus
}
#endif
