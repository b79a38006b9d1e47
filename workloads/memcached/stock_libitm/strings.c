/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * The string functions of sections for gcc's libitm, which has none: gcc compiles these with
 * -fgnu-tm, and only the transactional versions that it makes of them are exported. Comparing keys
 * is what memcached does most, so that is done by words.
 */
#include <stddef.h>
#include <stdint.h>

#define SAFE __attribute__((transaction_safe))

struct word { /* at any address */
  uint64_t value;
} __attribute__((packed, may_alias));

SAFE int memcmp(const void *left, const void *right, size_t size) {
  const unsigned char *a = left, *b = right;
  size_t i = 0;
  while (i + sizeof(struct word) <= size &&
         ((const struct word *)(a + i))->value == ((const struct word *)(b + i))->value)
    i += sizeof(struct word);
  for (; i < size; i++) {
    const int difference = a[i] - b[i];
    if (difference)
      return difference;
  }
  return 0;
}

SAFE void *memchr(const void *memory, int byte, size_t size) {
  const unsigned char *at = memory;
  for (size_t i = 0; i < size; i++)
    if (at[i] == (unsigned char)byte)
      return (void *)(at + i);
  return NULL;
}

SAFE size_t strlen(const char *text) {
  size_t length = 0;
  while (text[length])
    length++;
  return length;
}

SAFE char *strchr(const char *text, int wanted) {
  for (;; text++) {
    const char found = *text;
    if (found == (char)wanted)
      return (char *)text;
    if (!found)
      return NULL;
  }
}

SAFE int strncmp(const char *left, const char *right, size_t most) {
  for (size_t i = 0; i < most; i++) {
    const unsigned char a = (unsigned char)left[i], b = (unsigned char)right[i];
    if (a != b)
      return a - b;
    if (!a)
      return 0;
  }
  return 0;
}

SAFE int strcmp(const char *left, const char *right) { return strncmp(left, right, SIZE_MAX); }

SAFE char *strncpy(char *to, const char *from, size_t most) {
  size_t i = 0;
  for (; i < most && from[i]; i++)
    to[i] = from[i];
  for (; i < most; i++)
    to[i] = '\0';
  return to;
}

SAFE char *strncat(char *to, const char *from, size_t most) {
  char *end = to + strlen(to);
  size_t i = 0;
  for (; i < most && from[i]; i++)
    end[i] = from[i];
  end[i] = '\0';
  return to;
}
