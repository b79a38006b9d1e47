// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LU factorisation without pivoting in blocks of 8 x 8, each contiguous, given out to threads in
// two dimensions. SIZE: rows of the matrix, rounded up to whole blocks.
#include "kernel.h"

#include <math.h>

enum { kBlock = 8 };

static double *input, *matrix;
static size_t blocks; /* in a row */

static double *block(double *of, size_t row, size_t column) {
  return of + (row * blocks + column) * kBlock * kBlock;
}
static double *element(double *of, size_t row, size_t column) {
  return block(of, row / kBlock, column / kBlock) + row % kBlock * kBlock + column % kBlock;
}

static void prepare(size_t size) {
  uint64_t state = 3;
  blocks = (size + kBlock - 1) / kBlock;
  const size_t rows = blocks * kBlock;
  input = make_array(rows * rows * sizeof *input);
  matrix = make_array(rows * rows * sizeof *matrix);
  for (size_t i = 0; i < rows; ++i)
    for (size_t j = 0; j < rows; ++j)
      *element(input, i, j) =
          (double)(next_random(&state) >> 40) / (1 << 24) + (i == j ? (double)rows : 0);
}

static void restore(unsigned thread) {
  const size_t count = blocks * blocks * kBlock * kBlock;
  for (size_t i = part_begin(count, thread); i < part_end(count, thread); ++i)
    matrix[i] = input[i];
}

static unsigned owner(size_t row, size_t column) {
  unsigned across = 1;
  while (across * across < threads)
    ++across;
  return (unsigned)((row % across * across + column % across) % threads);
}

static void factor(double *a) {
  for (unsigned k = 0; k < kBlock; ++k)
    for (unsigned i = k + 1; i < kBlock; ++i) {
      a[i * kBlock + k] /= a[k * kBlock + k];
      for (unsigned j = k + 1; j < kBlock; ++j)
        a[i * kBlock + j] -= a[i * kBlock + k] * a[k * kBlock + j];
    }
}

/* A block right of the diagonal: L^-1 a. */
static void solve_row(const double *diagonal, double *a) {
  for (unsigned k = 0; k < kBlock; ++k)
    for (unsigned i = k + 1; i < kBlock; ++i)
      for (unsigned j = 0; j < kBlock; ++j)
        a[i * kBlock + j] -= diagonal[i * kBlock + k] * a[k * kBlock + j];
}

/* A block below it: a U^-1. */
static void solve_column(const double *diagonal, double *a) {
  for (unsigned i = 0; i < kBlock; ++i)
    for (unsigned k = 0; k < kBlock; ++k) {
      a[i * kBlock + k] /= diagonal[k * kBlock + k];
      for (unsigned j = k + 1; j < kBlock; ++j)
        a[i * kBlock + j] -= a[i * kBlock + k] * diagonal[k * kBlock + j];
    }
}

static void subtract_product(const double *left, const double *right, double *a) {
  for (unsigned i = 0; i < kBlock; ++i)
    for (unsigned k = 0; k < kBlock; ++k) {
      const double value = left[i * kBlock + k];
      for (unsigned j = 0; j < kBlock; ++j)
        a[i * kBlock + j] -= value * right[k * kBlock + j];
    }
}

static void work(unsigned thread) {
  for (size_t k = 0; k < blocks; ++k) {
    if (owner(k, k) == thread)
      factor(block(matrix, k, k));
    barrier();
    for (size_t i = k + 1; i < blocks; ++i) {
      if (owner(k, i) == thread)
        solve_row(block(matrix, k, k), block(matrix, k, i));
      if (owner(i, k) == thread)
        solve_column(block(matrix, k, k), block(matrix, i, k));
    }
    barrier();
    for (size_t i = k + 1; i < blocks; ++i)
      for (size_t j = k + 1; j < blocks; ++j)
        if (owner(i, j) == thread)
          subtract_product(block(matrix, i, k), block(matrix, k, j), block(matrix, i, j));
    barrier();
  }
}

/* Some elements of L times U. */
static int is_right(void) {
  const size_t rows = blocks * kBlock;
  uint64_t state = 4;
  for (unsigned sample = 0; sample < 200; ++sample) {
    const size_t i = next_random(&state) % rows, j = next_random(&state) % rows;
    double sum = i <= j ? *element(matrix, i, j) : 0;
    for (size_t k = 0; k < i && k <= j; ++k)
      sum += *element(matrix, i, k) * *element(matrix, k, j);
    if (!(fabs(sum - *element(input, i, j)) < 1e-6 * (double)rows))
      return 0;
  }
  return 1;
}

int main(int argc, char **argv) { return kernel_main(argc, argv, "lu", 96); }
