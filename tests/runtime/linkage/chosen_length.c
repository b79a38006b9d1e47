/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A strlen to be preloaded, which is chosen when it is looked up.
 */
#include <stddef.h>

static size_t length(const char *text) {
  const volatile char *at = text; /* so that this loop does not become a call of strlen */
  while (*at != '\0')
    ++at;
  return (size_t)((const char *)at - text);
}

static size_t (*choose(void))(const char *) { return length; }
size_t strlen(const char *) __attribute__((ifunc("choose")));
