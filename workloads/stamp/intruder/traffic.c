/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "intruder/traffic.h"

#include "lib/memory.h"
#include "lib/random.h"

#include <stdlib.h>
#include <string.h>

static void make_signatures(struct traffic *traffic, struct random *random) {
  for (int i = 0; i < SIGNATURES; i++) {
    const uint64_t length = 8 + random_below(random, LONGEST_SIGNATURE - 8 + 1);
    for (uint64_t at = 0; at < length; at++)
      traffic->signatures[i][at] = (char)('a' + random_below(random, 26));
    traffic->signatures[i][length] = '\0';
  }
}

static void write_message(const struct traffic *traffic, struct random *random, char *message,
                          uint32_t length, bool attack) {
  for (uint32_t i = 0; i < length; i++)
    message[i] = (char)(' ' + random_below(random, '~' - ' ' + 1));
  if (!attack)
    return;
  const char *signature = traffic->signatures[random_below(random, SIGNATURES)];
  const uint32_t size = (uint32_t)strlen(signature);
  char *place = message + random_below(random, length - size + 1);
  for (uint32_t i = 0; i < size; i++) /* letters of either case */
    place[i] = (char)(signature[i] - (random_below(random, 2) ? 'a' - 'A' : 0));
}

/* Cuts a message into 1 to MOST_FRAGMENTS parts, none of them empty. */
static uint64_t cut(struct random *random, struct fragment *fragments, uint32_t flow,
                    const char *message, uint32_t length) {
  const uint32_t most = length < MOST_FRAGMENTS ? length : MOST_FRAGMENTS;
  const uint32_t count = 1 + (uint32_t)random_below(random, most);
  uint32_t begin = 0;
  for (uint32_t i = 0; i < count; i++) {
    const uint32_t after = count - 1 - i; /* that must get a byte, too */
    const uint32_t left = length - begin - after;
    const uint32_t taken =
        after == 0 ? left : 1 + (uint32_t)random_below(random, 2 * left / (after + 1));
    const uint32_t size = taken < left ? taken : left;
    fragments[i] = (struct fragment){flow, (uint16_t)i, (uint16_t)count, size, message + begin};
    begin += size;
  }
  return count;
}

static void shuffle(struct random *random, struct fragment *fragments, uint64_t count) {
  for (uint64_t i = count; i > 1; i--) {
    const uint64_t other = random_below(random, i);
    const struct fragment fragment = fragments[i - 1];
    fragments[i - 1] = fragments[other];
    fragments[other] = fragment;
  }
}

void traffic_make(struct traffic *traffic, const struct traffic_parameters *parameters,
                  uint64_t seed) {
  struct random random = random_stream(seed, 0);
  *traffic = (struct traffic){.flow_count = parameters->flows, .longest = parameters->longest};
  traffic->fragments =
      allocate_table((size_t)parameters->flows * MOST_FRAGMENTS, sizeof(struct fragment));
  traffic->data = allocate_table(parameters->flows, parameters->longest);
  traffic->attacks = allocate_table(parameters->flows, sizeof(bool));
  make_signatures(traffic, &random);
  char *copy = allocate(parameters->longest);
  for (uint32_t flow = 0; flow < parameters->flows; flow++) {
    char *message = traffic->data + (size_t)flow * parameters->longest;
    const uint32_t shortest = LONGEST_SIGNATURE;
    const uint32_t length =
        shortest + (uint32_t)random_below(&random, parameters->longest - shortest + 1);
    const bool attack = random_below(&random, 100) < parameters->percent;
    do { /* until there is no attack by chance */
      write_message(traffic, &random, message, length, attack);
      memcpy(copy, message, length);
    } while (detect(traffic, copy, length) != attack);
    traffic->attacks[flow] = attack;
    traffic->fragment_count +=
        cut(&random, traffic->fragments + traffic->fragment_count, flow, message, length);
  }
  free(copy);
  shuffle(&random, traffic->fragments, traffic->fragment_count);
}

/* Whether `signature` stands in the message; both are lower case. */
static bool contains(const char *message, uint32_t length, const char *signature) {
  const uint32_t size = (uint32_t)strlen(signature);
  const char *end = message + length;
  for (const char *at = message; (size_t)(end - at) >= size; at++) {
    at = memchr(at, signature[0], (size_t)(end - at) - size + 1);
    if (at == NULL)
      return false;
    if (memcmp(at, signature, size) == 0)
      return true;
  }
  return false;
}

bool detect(const struct traffic *traffic, char *message, uint32_t length) {
  for (uint32_t i = 0; i < length; i++)
    if (message[i] >= 'A' && message[i] <= 'Z')
      message[i] = (char)(message[i] + ('a' - 'A'));
  for (int i = 0; i < SIGNATURES; i++)
    if (contains(message, length, traffic->signatures[i]))
      return true;
  return false;
}
