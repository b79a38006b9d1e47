// An address in a floating-point number is followed, converted or as bits.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = bits
// RUN: %{check}
// REDEFINE: %{kind} = boxed
// RUN: %{check}
// REDEFINE: %{kind} = union
// RUN: %{check}
// REDEFINE: %{kind} = value
// RUN: %{check}
// REDEFINE: %{kind} = arithmetic
// RUN: %{check}
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = long_double
// RUN: %{check}
// REDEFINE: %{kind} = library
// RUN: %{check}
// REDEFINE: %{kind} = complex
// RUN: %{check}
// REDEFINE: %{kind} = argument
// RUN: %{check}
#include "Inputs/hidden.h"

#include <math.h>

#if defined(KIND_bits)
static double kept;
static void hide(long *p) { memcpy(&kept, &p, sizeof kept); }
static long *found(void) {
  double d = kept;
  long *p;
  memcpy(&p, &d, sizeof p);
  return p;
}
#elif defined(KIND_boxed)
static double kept;
static void hide(long *p) {
  uint64_t bits = (uint64_t)p | 0xfff8000000000000;
  memcpy(&kept, &bits, 8);
}
static long *found(void) {
  uint64_t bits;
  memcpy(&bits, &kept, 8);
  return (long *)(bits & 0xffffffffffff);
}
#elif defined(KIND_union)
static union {
  double d;
  uint64_t bits;
} kept, copy;
static void hide(long *p) { kept.bits = (uint64_t)p << 3; }
static long *found(void) {
  copy.d = kept.d;
  return (long *)(copy.bits >> 3);
}
#elif defined(KIND_value)
static double kept;
static void hide(long *p) { kept = (double)(uint64_t)p; }
static long *found(void) { return (long *)(uint64_t)kept; }
#elif defined(KIND_arithmetic)
static double kept;
static void hide(long *p) { kept = (double)(uint64_t)p * 4 + 2; }
static long *found(void) { return (long *)(uint64_t)((kept - 2) / 4); }
#elif defined(KIND_halves)
static float low, middle, high;
static void hide(long *p) {
  low = (float)((uint64_t)p & 0xffff);
  middle = (float)((uint64_t)p >> 16 & 0xffff);
  high = (float)((uint64_t)p >> 32);
}
static long *found(void) {
  return (long *)((uint64_t)high << 32 | (uint64_t)middle << 16 | (uint64_t)low);
}
#elif defined(KIND_long_double)
static long double kept;
static void hide(long *p) { kept = -(long double)(uint64_t)p; }
static long *found(void) { return (long *)(uint64_t)-kept; }
#elif defined(KIND_library)
static double kept;
static void hide(long *p) { kept = ldexp((double)(uint64_t)p, 7); }
static long *found(void) { return (long *)(uint64_t)floor(ldexp(kept, -7)); }
#elif defined(KIND_complex)
static _Complex double kept;
static void hide(long *p) { __imag__ kept = (double)(uint64_t)p; }
static long *found(void) { return (long *)(uint64_t)__imag__(kept * 1.0); }
#elif defined(KIND_argument)
static double kept;
__attribute__((noinline)) static double doubled(double d) { return d + d; }
static void hide(long *p) { kept = doubled((double)(uint64_t)p); }
static long *found(void) { return (long *)(uint64_t)(kept / 2); }
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
