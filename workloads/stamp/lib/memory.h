/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Memory that is there: these do not return null. Where there is none left, the process ends by a
 * signal.
 */
#pragma once

#include "lib/section.h"

#include <stddef.h>

/* In sections and outside; release by free(). */
SAFE void *allocate(size_t bytes);

/* Outside of sections. Zeroed, aligned to 128 bytes; release by free(). */
void *allocate_table(size_t count, size_t bytes);
