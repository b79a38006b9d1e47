// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// The processor's clock in GHz, from a loop of additions that each wait for the one before.
#include <stdio.h>
#include <time.h>

int main(void) {
  unsigned long sum = 0;
  const unsigned long rounds = 40000000;
  const clock_t begin = clock();
  for (unsigned long left = rounds; left; --left)
    asm volatile("add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n"
                 "add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0\n add $1, %0"
                 : "+r"(sum));
  const double seconds = (double)(clock() - begin) / CLOCKS_PER_SEC;
  printf("%.4f\n", 10.0 * rounds / seconds / 1e9);
  return sum == 10 * rounds ? 0 : 1;
}
