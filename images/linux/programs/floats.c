// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// floats COUNT: arithmetic whose bits IEEE 754 fixes, in single and double precision and all
// rounding modes. Prints a sum of all result bits, which is the same on every machine.
#include <fenv.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static uint64_t state = 0x9E3779B97F4A7C15u;
static uint64_t sum;

static uint64_t next(void) {
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  return state;
}

// NaNs may differ in their bits: they count as one value.
static void add(double value) {
  uint64_t bits = 0x7FF8000000000000u;
  if (!isnan(value))
    memcpy(&bits, &value, sizeof bits);
  sum = (sum << 7 | sum >> 57) ^ bits;
}

static double operand(void) {
  const uint64_t bits = next();
  double value = 0;
  if (bits % 5 == 0)
    return (double)(int64_t)(bits >> 40) / 16;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static void round_of(void) {
  const volatile double a = operand();
  const volatile double b = operand();
  const volatile double c = operand();
  const volatile float x = (float)a;
  const volatile float y = (float)b;
  add(a + b);
  add(a - b);
  add(a * b);
  add(a / b);
  add(sqrt(fabs(a)));
  add(fma(a, b, c));
  add((double)(x + y));
  add((double)(x * y));
  add((double)(x / y));
  add((double)sqrtf(fabsf(x)));
  add((double)fmaf(x, y, (float)c));
  if (fabs(a) < 1e15)
    add((double)llrint(a));
  sum += (uint64_t)(a < b) + (uint64_t)(x == y);
}

int main(int argc, char **argv) {
  static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_UPWARD, FE_DOWNWARD};
  const long count = argc > 1 ? atol(argv[1]) : 5000;
  for (int mode = 0; mode < 4; ++mode) {
    fesetround(modes[mode]);
    for (long i = 0; i < count; ++i)
      round_of();
  }
  fesetround(FE_TONEAREST);
  printf("%016llx\n", (unsigned long long)sum);
  return 0;
}
