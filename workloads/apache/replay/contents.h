/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What objects of the replay contain, and whether what is found is what was stored.
 *
 * The head tells key, version and size; each eight bytes of the body are computed from these and
 * the place, so that a body that is torn, short, old, or another object's is noticed. A key is
 * stored and removed by one thread only, its owner, which thus knows what it must find: its last
 * version, or nothing where that could be evicted. Others see versions that never go back.
 */
#pragma once

#include "stream.h"

#include <stdbool.h>

struct head {
  uint32_t key, version, body_version, body_bytes;
};

/* What one thread knows of the keys. */
struct knowledge {
  uint32_t *version; /* that it stored last, or saw; 0: none yet */
  bool *gone;        /* the owner has removed it, and stored nothing since */
};

/* `bytes` of the body that begin at `at`, a multiple of 8. */
void contents_fill(char *to, const struct head *head, size_t at, size_t bytes);
/* Null, or what is wrong with these bytes of a body. */
const char *contents_compare(const char *data, const struct head *head, size_t at, size_t bytes);
/* Null, or why the thread cannot have found that object under that key. Remembers what it saw. */
const char *contents_seen(struct knowledge *knowledge, const struct head *head, size_t head_bytes,
                          uint32_t key, size_t body_bytes, bool owner);
