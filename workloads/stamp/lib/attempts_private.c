/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Counts how often sections begin, also those that are rolled back: no runtime undoes this.
 */
#include "lib/harness.h"

#include <stdatomic.h>

static _Atomic uint64_t attempts;

void stamp_attempt(void) { atomic_fetch_add_explicit(&attempts, 1, memory_order_relaxed); }

uint64_t stamp_attempts(void) { return atomic_load(&attempts); }
