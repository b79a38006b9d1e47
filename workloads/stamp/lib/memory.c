/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "lib/memory.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* A call of abort would make sections irrevocable for tandem-cc; a trap is unsafe for gcc. */
#if defined(STAMP_GNU_TM)
#define DIE() abort()
#else
#define DIE() __builtin_trap()
#endif

SAFE void *allocate(size_t bytes) {
  void *memory = malloc(bytes);
  if (memory == NULL)
    DIE();
  return memory;
}

void *allocate_table(size_t count, size_t bytes) {
  enum { LINE = 128 };
  if (bytes != 0 && count > (SIZE_MAX - LINE) / bytes)
    abort();
  const size_t size = (count * bytes + LINE - 1) / LINE * LINE;
  void *memory = aligned_alloc(LINE, size ? size : LINE);
  if (memory == NULL)
    abort();
  return memset(memory, 0, size);
}
