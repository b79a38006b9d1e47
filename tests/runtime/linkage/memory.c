/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A replacement of malloc without versions of its symbols, to be preloaded: from one array, and
 * nothing is used twice. Ends the process where memory is freed that is not from there.
 */
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

static _Alignas(16) char memory[1 << 24];
static size_t used;

void *malloc(size_t bytes) {
  const size_t room = (bytes + 31) / 16 * 16;
  const size_t at = __atomic_fetch_add(&used, room, __ATOMIC_RELAXED);
  if (at + room > sizeof memory)
    return NULL;
  memcpy(memory + at, &bytes, sizeof bytes);
  return memory + at + 16;
}

void free(void *block) {
  if (block != NULL && (uintptr_t)block - (uintptr_t)memory >= sizeof memory) {
    (void)!write(STDERR_FILENO, "freed what is another's\n", 24);
    _exit(99);
  }
}

void *calloc(size_t count, size_t bytes) { return malloc(count * bytes); /* never used before */ }

void *realloc(void *block, size_t bytes) {
  char *fresh = malloc(bytes);
  if (fresh != NULL && block != NULL) {
    size_t had = 0;
    memcpy(&had, (char *)block - 16, sizeof had);
    memcpy(fresh, block, had < bytes ? had : bytes);
  }
  return fresh;
}

size_t malloc_usable_size(void *block) {
  size_t bytes = 0;
  if (block != NULL)
    memcpy(&bytes, (char *)block - 16, sizeof bytes);
  return bytes;
}
