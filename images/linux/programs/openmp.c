// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// openmp COUNT: reductions, schedules, critical sections and tasks of OpenMP. Prints a sum.
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

static long fibonacci(int n) {
  if (n < 2)
    return n;
  long a = 0;
  long b = 0;
#pragma omp task shared(a) if (n > 8)
  a = fibonacci(n - 1);
  b = fibonacci(n - 2);
#pragma omp taskwait
  return a + b;
}

int main(int argc, char **argv) {
  const long count = argc > 1 ? atol(argv[1]) : 20000;
  long sum = 0;
#pragma omp parallel for reduction(+ : sum) schedule(dynamic, 64)
  for (long i = 1; i <= count; ++i)
    sum += i;
  if (sum != count * (count + 1) / 2)
    return 2;
  long entered = 0;
#pragma omp parallel
  for (int round = 0; round < 100; ++round) {
#pragma omp critical
    ++entered;
#pragma omp barrier
  }
  if (entered != 100L * omp_get_max_threads())
    return 3;
  long tasks = 0;
#pragma omp parallel
#pragma omp single
  tasks = fibonacci(14);
  if (tasks != 377)
    return 4;
  printf("%ld, %d threads\n", sum, omp_get_max_threads());
  return 0;
}
