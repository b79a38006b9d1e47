/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
#include "genome/gene.h"

#include "lib/bitmap.h"
#include "lib/memory.h"
#include "lib/random.h"

#include <stdlib.h>

/* A set of substrings of up to 32 symbols, two bits each, by open addressing. */
struct words {
  uint64_t *slots; /* 0: free; else the word plus 1 */
  uint64_t mask;
};

static bool add_word(struct words *words, uint64_t word) {
  const uint64_t wanted = word + 1;
  for (uint64_t at = random_mix(word) & words->mask;; at = (at + 1) & words->mask) {
    if (words->slots[at] == wanted)
      return false;
    if (words->slots[at] == 0) {
      words->slots[at] = wanted;
      return true;
    }
  }
}

/* Symbol by symbol, so that the last `least` ones never stood there before. False where all four
 * symbols would make a substring that is there already. */
static bool make_symbols(struct gene *gene, struct random *random) {
  struct words words = {NULL, 1};
  while (words.mask < 4 * gene->length)
    words.mask = 2 * words.mask + 1;
  words.slots = allocate_table(words.mask + 1, sizeof(uint64_t));
  const uint64_t keep = gene->least == 32 ? UINT64_MAX : ((uint64_t)1 << (2 * gene->least)) - 1;
  uint64_t last = 0;
  bool made = true;
  for (uint64_t i = 0; i < gene->length && made; i++) {
    const uint64_t first = random_below(random, 4);
    made = false;
    for (unsigned turn = 0; turn < 4 && !made; turn++) {
      const uint64_t symbol = (first + turn) % 4;
      const uint64_t word = (last << 2 | symbol) & keep;
      /* A word of 32 times symbol 3 is the one that the set cannot hold. */
      if (word == UINT64_MAX || (i + 1 >= gene->least && !add_word(&words, word)))
        continue;
      gene->symbols[i] = (uint8_t)symbol;
      last = word;
      made = true;
    }
  }
  free(words.slots);
  return made;
}

static struct segment cut(const struct gene *gene, uint64_t place) {
  struct segment segment = {{0, 0}};
  for (unsigned i = 0; i < gene->segment; i++)
    segment.words[i / 32] |= (uint64_t)gene->symbols[place + i] << (i % 32 * 2);
  return segment;
}

/* Adds segments so that neighbours overlap by `least` and both ends are covered. */
static uint64_t fill_gaps(const struct gene *gene, struct bitmap *used, uint64_t *places) {
  const uint64_t last = gene->length - gene->segment;
  const uint64_t step = gene->segment - gene->least;
  uint64_t added = 0;
  uint64_t before = 0;
  for (uint64_t place = 0; place <= last; place++) {
    const bool needed = place == 0 || place == last || place - before == step;
    if (needed && bitmap_set(used, place))
      places[added++] = place;
    if (bitmap_has(used, place))
      before = place;
  }
  return added;
}

static void make_segments(struct gene *gene, uint64_t count, struct random *random) {
  const uint64_t places = gene->length - gene->segment + 1;
  struct bitmap used;
  bitmap_initialise(&used, places);
  uint64_t *all = allocate_table(count + places, sizeof(uint64_t));
  for (uint64_t i = 0; i < count; i++) {
    all[i] = random_below(random, places);
    bitmap_set(&used, all[i]);
  }
  count += fill_gaps(gene, &used, all + count);
  for (uint64_t i = count; i > 1; i--) {
    const uint64_t other = random_below(random, i);
    const uint64_t place = all[i - 1];
    all[i - 1] = all[other];
    all[other] = place;
  }
  gene->segment_count = count;
  gene->segments = allocate_table(count, sizeof(struct segment));
  for (uint64_t i = 0; i < count; i++)
    gene->segments[i] = cut(gene, all[i]);
  for (uint64_t i = 0; i < places; i++)
    gene->distinct += bitmap_has(&used, i);
  free(all);
  free(used.words);
}

void gene_make(struct gene *gene, const struct gene_parameters *parameters, uint64_t seed) {
  *gene = (struct gene){.length = parameters->length,
                        .segment = parameters->segment,
                        .least = parameters->segment / 2};
  gene->symbols = allocate_table(gene->length, 1);
  struct random random = random_stream(seed, 0);
  for (uint64_t turn = 1; !make_symbols(gene, &random); turn++)
    random = random_stream(seed, turn);
  make_segments(gene, parameters->segments, &random);
}

uint64_t rolling_hash(struct segment segment, unsigned length) {
  uint64_t hash = 0;
  for (unsigned i = 0; i < length; i++)
    hash = hash * ROLLING_BASE + segment_symbol(segment, i) + 1;
  return hash;
}

uint64_t rolling_power(unsigned exponent) {
  uint64_t power = 1;
  while (exponent-- > 0)
    power *= ROLLING_BASE;
  return power;
}

/* Newton's iteration doubles the number of correct low bits; x itself is right in three. */
static uint64_t inverse(uint64_t x) {
  uint64_t result = x;
  for (int i = 0; i < 5; i++)
    result *= 2 - x * result;
  return result;
}

uint64_t rolling_without_last(uint64_t hash, unsigned symbol) {
  static const uint64_t base = ROLLING_BASE;
  return (hash - (symbol + 1)) * inverse(base);
}
