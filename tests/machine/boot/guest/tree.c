// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Source: the Devicetree Specification 0.3, chapter 5.
#include "guest.h"

char arguments[512];
u64 harts;
u64 memory_bytes;

static u32 word(const u8 *at) {
  return (u32)at[0] << 24 | (u32)at[1] << 16 | (u32)at[2] << 8 | at[3];
}

static int same(const char *a, const char *b) {
  while (*a != 0 && *a == *b)
    ++a, ++b;
  return *a == *b;
}

static int begins(const char *text, const char *with) {
  while (*with != 0)
    if (*text++ != *with++)
      return 0;
  return 1;
}

void read_tree(const u8 *tree) {
  const u8 *at = tree + word(tree + 8);
  const char *names = (const char *)tree + word(tree + 12);
  int in_memory = 0;
  while (1) {
    u32 token = word(at);
    at += 4;
    if (token == 1) { // a node
      const char *name = (const char *)at;
      u64 size = 0;
      while (name[size] != 0)
        ++size;
      harts += begins(name, "cpu@");
      in_memory = begins(name, "memory@");
      at += (size + 4) & ~3UL;
    } else if (token == 3) { // a property
      u32 size = word(at);
      const char *name = names + word(at + 4);
      const u8 *value = at + 8;
      if (same(name, "bootargs"))
        for (u32 i = 0; i < size && i < sizeof arguments - 1; ++i)
          arguments[i] = (char)value[i];
      if (in_memory && same(name, "reg"))
        memory_bytes = (u64)word(value + 8) << 32 | word(value + 12);
      at += 8 + ((size + 3) & ~3U);
    } else if (token == 9) {
      return;
    }
  }
}

int argument(const char *name, char *value, u64 room) {
  for (const char *at = arguments; *at != 0; ++at) {
    if ((at != arguments && at[-1] != ' ') || !begins(at, name))
      continue;
    const char *from = at;
    while (*from != '=' && *from != 0)
      ++from;
    if (*from != '=')
      return 0;
    char end = ' ';
    if (*++from == '"')
      end = *from++;
    u64 size = 0;
    for (; *from != 0 && *from != end && size + 1 < room; ++from)
      value[size++] = *from;
    value[size] = 0;
    return 1;
  }
  return 0;
}
