/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Compiled by a plain compiler: code that tandem-cc knows nothing of, as it knows nothing of APR.
 */
#include "steps.h"

#include <stdlib.h>

void pool_register(struct pool *pool, struct store_object *object) {
  if (pool->count == pool->room) {
    pool->room = pool->room != 0 ? 2 * pool->room : 64;
    pool->registered = realloc(pool->registered, pool->room * sizeof *pool->registered);
    if (pool->registered == NULL)
      abort();
  }
  pool->registered[pool->count++] = object;
}
