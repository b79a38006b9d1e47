/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "contents.h"

#include <string.h>

static uint64_t word(const struct head *head, size_t at) {
  uint64_t state = ((uint64_t)head->key << 32 | head->body_version) ^ (at * 0x2545f4914f6cdd1dU);
  return random_next(&state);
}

void contents_fill(char *to, const struct head *head, size_t at, size_t bytes) {
  for (size_t i = 0; i < bytes; i += 8) {
    const uint64_t value = word(head, at + i);
    memcpy(to + i, &value, bytes - i < 8 ? bytes - i : 8);
  }
}

/* Parts may begin anywhere: bytes are taken from the word that they are in. */
const char *contents_compare(const char *data, const struct head *head, size_t at, size_t bytes) {
  for (size_t i = 0; i < bytes;) {
    const size_t inside = (at + i) % 8;
    const uint64_t value = word(head, at + i - inside);
    const size_t now = bytes - i < 8 - inside ? bytes - i : 8 - inside;
    if (memcmp(data + i, (const char *)&value + inside, now) != 0)
      return "a body has other bytes than were stored";
    i += now;
  }
  return NULL;
}

const char *contents_seen(struct knowledge *knowledge, const struct head *head, size_t head_bytes,
                          uint32_t key, size_t body_bytes, bool owner) {
  if (head_bytes != sizeof *head || head->key != key)
    return "a key gave another key's object";
  if (head->body_bytes != body_bytes)
    return "a body has another length than was stored";
  if (owner && knowledge->gone[key])
    return "an object was found after it was removed";
  if (owner && knowledge->version[key] != 0 && head->version != knowledge->version[key])
    return "a key did not give what was stored last";
  if (head->version < knowledge->version[key])
    return "a key gave an older version than before";
  knowledge->version[key] = head->version;
  return NULL;
}
