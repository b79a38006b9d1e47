/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Genes, and segments of genes, as symbols 0 to 3; the rolling hash.
 */
#pragma once

#include "lib/section.h"

#include <stdbool.h>
#include <stdint.h>

enum { LONGEST_SEGMENT = 64 /* symbols */ };

/* Up to LONGEST_SEGMENT symbols: symbol i is bits 2 i and 2 i + 1 of the 128, from the lowest. */
struct segment {
  uint64_t words[2];
};

typedef unsigned __int128 segment_bits;

SAFE static inline segment_bits segment_all(struct segment segment) {
  return (segment_bits)segment.words[1] << 64 | segment.words[0];
}

SAFE static inline unsigned segment_symbol(struct segment segment, unsigned index) {
  return segment.words[index / 32] >> (index % 32 * 2) & 3;
}

/* The first `count` symbols; count is below 64. */
SAFE static inline segment_bits segment_begin(struct segment segment, unsigned count) {
  return segment_all(segment) & (((segment_bits)1 << (2 * count)) - 1);
}

/* The last `count` symbols of a segment of `length`. */
SAFE static inline segment_bits segment_end(struct segment segment, unsigned length,
                                            unsigned count) {
  return segment_all(segment) >> (2 * (length - count));
}

/* Of a segment's two words. */
SAFE static inline uint64_t words_hash(uint64_t low, uint64_t high) {
  uint64_t hash = low * 0x9e3779b97f4a7c15u;
  hash = (hash ^ hash >> 32 ^ high) * 0xd6e8feb86659fd93u;
  return hash ^ hash >> 32;
}

/* Rabin and Karp: the sum of (symbol i + 1) * BASE^(length - 1 - i), modulo 2^64. BASE is odd, so
 * that it has an inverse. */
#define ROLLING_BASE ((uint64_t)0x5851f42d4c957f2d)

uint64_t rolling_hash(struct segment segment, unsigned length);
uint64_t rolling_power(unsigned exponent); /* BASE^exponent */
uint64_t rolling_without_last(uint64_t hash, unsigned symbol);

/* `weight` is BASE^(length - 1). */
static inline uint64_t rolling_without_first(uint64_t hash, unsigned symbol, uint64_t weight) {
  return hash - (symbol + 1) * weight;
}

struct gene_parameters {
  uint64_t length;   /* of the gene */
  unsigned segment;  /* length of every segment, at most LONGEST_SEGMENT, even */
  uint64_t segments; /* at random places; more are added where they leave gaps */
};

/* Symbols of the gene, and what is known of it. */
struct gene {
  uint8_t *symbols;
  uint64_t length;
  struct segment *segments;
  uint64_t segment_count;
  uint64_t distinct; /* segments that differ */
  unsigned segment;  /* their length */
  unsigned least;    /* overlap of neighbours, at least; substrings of that length are distinct */
};

void gene_make(struct gene *gene, const struct gene_parameters *parameters, uint64_t seed);
