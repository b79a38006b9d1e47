// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Merge sort: each thread sorts its part, then pairs of parts are merged, by half as many threads
// each time. SIZE: numbers of 8 bytes.
#include "kernel.h"

#include <string.h>

static uint64_t *input, *numbers, *other;
static size_t count;
static uint64_t sum;

static void prepare(size_t size) {
  uint64_t state = 1;
  count = size;
  input = make_array(count * 8);
  numbers = make_array(count * 8);
  other = make_array(count * 8);
  for (size_t i = 0; i < count; ++i)
    sum += input[i] = next_random(&state);
}

static void restore(unsigned thread) {
  for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
    numbers[i] = input[i];
}

static void merge(const uint64_t *from, uint64_t *to, size_t low, size_t middle, size_t high) {
  size_t a = low, b = middle;
  for (size_t i = low; i < high; ++i)
    to[i] = a < middle && (b == high || from[a] <= from[b]) ? from[a++] : from[b++];
}

/* The result is in `to`, or in `from` if !into. */
static void sort(uint64_t *from, uint64_t *to, size_t low, size_t high, int into) {
  if (high - low <= 8) {
    for (size_t i = low + 1; i < high; ++i) {
      const uint64_t value = from[i];
      size_t j = i;
      for (; j > low && from[j - 1] > value; --j)
        from[j] = from[j - 1];
      from[j] = value;
    }
    if (into)
      memcpy(to + low, from + low, (high - low) * sizeof *to);
    return;
  }
  const size_t middle = low + (high - low) / 2;
  sort(from, to, low, middle, !into);
  sort(from, to, middle, high, !into);
  merge(into ? from : to, into ? to : from, low, middle, high);
}

static void work(unsigned thread) {
  sort(numbers, other, part_begin(count, thread), part_end(count, thread), 0);
  uint64_t *from = numbers, *to = other;
  unsigned wide = 1;
  for (; wide < threads; wide *= 2) {
    barrier();
    const unsigned first = thread * 2 * wide;
    if (first < threads) {
      const unsigned second = first + wide < threads ? first + wide : threads;
      const unsigned last = first + 2 * wide < threads ? first + 2 * wide : threads;
      merge(from, to, part_begin(count, first), part_begin(count, second), part_begin(count, last));
    }
    uint64_t *const swapped = from;
    from = to;
    to = swapped;
  }
  barrier();
  if (from != numbers)
    memcpy(numbers + part_begin(count, thread), from + part_begin(count, thread),
           (part_end(count, thread) - part_begin(count, thread)) * sizeof *from);
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

int main(int argc, char **argv) { return kernel_main(argc, argv, "sort", 16384); }
