// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Radix sort by four digits of 8 bits: each thread counts its part, places are given out by all
// threads' counts, then each thread writes its numbers all over the target. SIZE: numbers of 4
// bytes.
#include "kernel.h"

#include <string.h>

enum { kDigits = 256, kRounds = 4 };

static uint32_t *input, *numbers, *other;
static size_t count;
static uint64_t sum;
static _Alignas(kLine) size_t counts[kMaxThreads][kDigits];

static void prepare(size_t size) {
  uint64_t state = 2;
  count = size;
  input = make_array(count * 4);
  numbers = make_array(count * 4);
  other = make_array(count * 4);
  for (size_t i = 0; i < count; ++i)
    sum += input[i] = (uint32_t)next_random(&state);
}

static void restore(unsigned thread) {
  for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
    numbers[i] = input[i];
}

static void work(unsigned thread) {
  uint32_t *from = numbers, *to = other;
  for (unsigned round = 0; round < kRounds; ++round) {
    const unsigned shift = 8 * round;
    size_t *own = counts[thread];
    memset(own, 0, sizeof counts[0]);
    for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
      ++own[from[i] >> shift & 255];
    barrier();
    size_t places[kDigits], place = 0;
    for (unsigned digit = 0; digit < kDigits; ++digit)
      for (unsigned each = 0; each < threads; ++each) {
        if (each == thread)
          places[digit] = place;
        place += counts[each][digit];
      }
    for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
      to[places[from[i] >> shift & 255]++] = from[i];
    barrier();
    uint32_t *const swapped = from;
    from = to;
    to = swapped;
  }
}

static int is_right(void) {
  uint64_t found = numbers[0];
  for (size_t i = 1; i < count; ++i) {
    if (numbers[i - 1] > numbers[i])
      return 0;
    found += numbers[i];
  }
  return found == sum;
}

int main(int argc, char **argv) { return kernel_main(argc, argv, "radix", 32768); }
