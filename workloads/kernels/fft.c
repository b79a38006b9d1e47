// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FFT of M x M complex numbers by transposing: columns, then twiddles, then rows, each thread some
// rows; every transposition moves all data between all threads. SIZE: M, a power of two.
#include "kernel.h"

#include <math.h>

struct number {
  double re, im;
};

static struct number *input, *data, *turned, *roots;
static size_t side;

static struct number times(struct number a, struct number b) {
  return (struct number){a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

static void prepare(size_t size) {
  uint64_t state = 5;
  for (side = 1; side < size; side *= 2)
    ;
  const size_t count = side * side;
  input = make_array(count * sizeof *input);
  data = make_array(count * sizeof *data);
  turned = make_array(count * sizeof *turned);
  roots = make_array(count * sizeof *roots);
  for (size_t i = 0; i < count; ++i) {
    const double angle = -2 * 3.14159265358979323846 * (double)i / (double)count;
    roots[i] = (struct number){cos(angle), sin(angle)};
    input[i] = (struct number){(double)(next_random(&state) >> 40), 0};
  }
}

static void restore(unsigned thread) {
  const size_t count = side * side;
  for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
    data[i] = input[i];
}

static void transpose(const struct number *from, struct number *to, unsigned thread) {
  for (size_t i = part_begin(side, thread); i < part_end(side, thread); ++i)
    for (size_t j = 0; j < side; ++j)
      to[i * side + j] = from[j * side + i];
  barrier();
}

static void transform_row(struct number *row) {
  for (size_t i = 1, j = 0; i < side; ++i) { /* bits reversed */
    size_t bit = side >> 1;
    for (; j & bit; bit >>= 1)
      j ^= bit;
    j ^= bit;
    if (i < j) {
      const struct number kept = row[i];
      row[i] = row[j];
      row[j] = kept;
    }
  }
  for (size_t length = 2; length <= side; length *= 2)
    for (size_t first = 0; first < side; first += length)
      for (size_t k = 0; k < length / 2; ++k) {
        struct number *a = &row[first + k], *b = a + length / 2;
        const struct number odd = times(*b, roots[k * (side / length) * side]);
        *b = (struct number){a->re - odd.re, a->im - odd.im};
        *a = (struct number){a->re + odd.re, a->im + odd.im};
      }
}

static void work(unsigned thread) {
  transpose(data, turned, thread);
  for (size_t i = part_begin(side, thread); i < part_end(side, thread); ++i) {
    transform_row(turned + i * side);
    for (size_t j = 0; j < side; ++j)
      turned[i * side + j] = times(turned[i * side + j], roots[i * j]);
  }
  barrier();
  transpose(turned, data, thread);
  for (size_t i = part_begin(side, thread); i < part_end(side, thread); ++i)
    transform_row(data + i * side);
  barrier();
  transpose(data, turned, thread);
}

/* Some of the sums by their definition. */
static int is_right(void) {
  const size_t count = side * side;
  uint64_t state = 6;
  for (unsigned sample = 0; sample < 4; ++sample) {
    const size_t k = next_random(&state) % count;
    struct number sum = {0, 0};
    double size = 0;
    for (size_t i = 0; i < count; ++i) {
      const struct number part = times(input[i], roots[i * k % count]);
      sum.re += part.re;
      sum.im += part.im;
      size += fabs(input[i].re);
    }
    if (!(hypot(sum.re - turned[k].re, sum.im - turned[k].im) < 1e-9 * size))
      return 0;
  }
  return 1;
}

int main(int argc, char **argv) { return kernel_main(argc, argv, "fft", 64); }
