/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What is asked of a cache: keys that look like those of httpd's mod_cache, sizes of bodies as
 * manual pages have them, and which key comes next by Zipf's law, or from a file.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

struct stream {
  uint32_t keys;
  char **key; /* by number */
  size_t *key_bytes;
  uint32_t *body_bytes;
  uint32_t *order; /* key numbers, `length` of them; threads begin at different places */
  size_t length;
};

/* Keys 0 to keys - 1, of which number i is asked for with a probability in proportion to
 * 1/(i+1)^s. Ends the process with one line where there is no memory. */
void stream_zipf(struct stream *stream, uint32_t keys, double s, size_t length, uint64_t seed);
/* A file with a key in each line, in the order in which they are asked for, each optionally
 * followed by a tab and the size of its body in bytes. Result: what is wrong with it, else null. */
const char *stream_read(struct stream *stream, const char *path, uint64_t seed);
void stream_free(struct stream *stream);

/* splitmix64 (Steele, Lea, Flood 2014). */
static inline uint64_t random_next(uint64_t *state) {
  uint64_t z = (*state += 0x9e3779b97f4a7c15U);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9U;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebU;
  return z ^ (z >> 31);
}
