/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Random numbers: splitmix64. The same seed gives the same numbers everywhere. A generator belongs
 * to one thread.
 */
#pragma once

#include <stdint.h>

struct random {
  uint64_t state;
};

static inline uint64_t random_mix(uint64_t x) {
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

/* A generator whose numbers are unrelated to those of other streams of the seed. */
static inline struct random random_stream(uint64_t seed, uint64_t stream) {
  return (struct random){random_mix(seed + 0x9e3779b97f4a7c15u) ^
                         random_mix(stream * 0xd1342543de82ef95u + 1)};
}

static inline uint64_t random_next(struct random *random) {
  random->state += 0x9e3779b97f4a7c15u;
  return random_mix(random->state);
}

/* Uniform in 0 .. bound - 1; bound is below 2^32. */
static inline uint64_t random_below(struct random *random, uint64_t bound) {
  return ((random_next(random) >> 32) * bound) >> 32;
}

/* Uniform in [0, 1), a multiple of 2^-53. */
static inline double random_unit(struct random *random) {
  return (double)(random_next(random) >> 11) * 0x1p-53;
}
