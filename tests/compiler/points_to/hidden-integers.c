// An address that goes through operations on integers is followed to where it is a pointer again.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = xor
// RUN: %{check}
// REDEFINE: %{kind} = xor_key
// RUN: %{check}
// REDEFINE: %{kind} = xor_list
// RUN: %{check}
// REDEFINE: %{kind} = difference
// RUN: %{check}
// REDEFINE: %{kind} = sum
// RUN: %{check}
// REDEFINE: %{kind} = shift
// RUN: %{check}
// REDEFINE: %{kind} = rotate
// RUN: %{check}
// REDEFINE: %{kind} = rotate_builtin
// RUN: %{check}
// REDEFINE: %{kind} = bits
// RUN: %{check}
// REDEFINE: %{kind} = multiply
// RUN: %{check}
// REDEFINE: %{kind} = divide
// RUN: %{check}
// REDEFINE: %{kind} = not
// RUN: %{check}
// REDEFINE: %{kind} = negative
// RUN: %{check}
// REDEFINE: %{kind} = swapped
// RUN: %{check}
// REDEFINE: %{kind} = reversed
// RUN: %{check}
// REDEFINE: %{kind} = overflow
// RUN: %{check}
// REDEFINE: %{kind} = funnel
// RUN: %{check}
// REDEFINE: %{kind} = wide
// RUN: %{check}
// REDEFINE: %{kind} = wide_product
// RUN: %{check}
// REDEFINE: %{kind} = bit_int
// RUN: %{check}
// REDEFINE: %{kind} = bit_int_wide
// RUN: %{check}
// REDEFINE: %{kind} = choice
// RUN: %{check}
// REDEFINE: %{kind} = offset_null
// RUN: %{check}
// REDEFINE: %{kind} = global
// RUN: %{check}
// REDEFINE: %{kind} = array
// RUN: %{check}
#include "Inputs/hidden.h"

#if defined(KIND_xor)
static uintptr_t kept;
static void hide(long *p) { kept = (uintptr_t)p ^ 1; }
static long *found(void) { return (long *)(kept ^ 1); }
#elif defined(KIND_xor_key)
static uintptr_t kept, key;
static void hide(long *p) {
  key = (uintptr_t)rand() << 20;
  kept = (uintptr_t)p;
  kept ^= key;
}
static long *found(void) {
  uintptr_t p = kept;
  p ^= key;
  return (long *)p;
}
#elif defined(KIND_xor_list)
static long before, behind;
static struct link {
  uintptr_t both;
} middle;
static void hide(long *p) { middle.both = (uintptr_t)&before ^ (uintptr_t)p; }
static long *found(void) {
  behind = 0;
  return (long *)(middle.both ^ (uintptr_t)&before);
}
#elif defined(KIND_difference)
static long first;
static uintptr_t kept;
static void hide(long *p) { kept = (uintptr_t)p - (uintptr_t)&first; }
static long *found(void) { return (long *)((uintptr_t)&first + kept); }
#elif defined(KIND_sum)
static long first;
static uintptr_t kept;
static void hide(long *p) { kept = (uintptr_t)p + (uintptr_t)&first; }
static long *found(void) { return (long *)(kept - (uintptr_t)&first); }
#elif defined(KIND_shift)
static uint64_t kept;
static void hide(long *p) { kept = (uint64_t)p << 16 | 0xbeef; }
static long *found(void) { return (long *)(kept >> 16); }
#elif defined(KIND_rotate)
static uint64_t kept;
static uint64_t rotated(uint64_t v, int n) { return v << n | v >> (64 - n); }
static void hide(long *p) { kept = rotated((uint64_t)p, 17); }
static long *found(void) { return (long *)rotated(kept, 47); }
#elif defined(KIND_rotate_builtin)
static uint64_t kept;
static void hide(long *p) { kept = __builtin_rotateleft64((uint64_t)p, 9); }
static long *found(void) { return (long *)__builtin_rotateright64(kept, 9); }
#elif defined(KIND_bits)
static struct {
  uint64_t tag : 16, address : 48;
} kept;
static void hide(long *p) {
  kept.tag = 7;
  kept.address = (uint64_t)p;
}
static long *found(void) { return (long *)(uint64_t)kept.address; }
#elif defined(KIND_multiply)
static uint64_t kept;
static void hide(long *p) { kept = (uint64_t)p * 3; }
static long *found(void) { return (long *)(kept * 0xaaaaaaaaaaaaaaab); }
#elif defined(KIND_divide)
static uint64_t quotient, rest;
static void hide(long *p) {
  quotient = (uint64_t)p / 1000;
  rest = (uint64_t)p % 1000;
}
static long *found(void) { return (long *)(quotient * 1000 + rest); }
#elif defined(KIND_not)
static uint64_t kept;
static void hide(long *p) { kept = ~(uint64_t)p; }
static long *found(void) { return (long *)~kept; }
#elif defined(KIND_negative)
static int64_t kept;
static void hide(long *p) { kept = -(int64_t)p; }
static long *found(void) { return (long *)-kept; }
#elif defined(KIND_swapped)
static uint64_t kept;
static void hide(long *p) { kept = __builtin_bswap64((uint64_t)p); }
static long *found(void) { return (long *)__builtin_bswap64(kept); }
#elif defined(KIND_reversed)
static uint64_t kept;
static void hide(long *p) { kept = __builtin_bitreverse64((uint64_t)p); }
static long *found(void) { return (long *)__builtin_bitreverse64(kept); }
#elif defined(KIND_overflow)
static uint64_t kept;
static void hide(long *p) { (void)__builtin_mul_overflow((uint64_t)p, (uint64_t)2, &kept); }
static long *found(void) {
  uint64_t half;
  (void)__builtin_sub_overflow(kept, kept / 2, &half);
  return (long *)half;
}
#elif defined(KIND_funnel)
static uint64_t high, low;
static void hide(long *p) {
  high = (uint64_t)p >> 32;
  low = (uint64_t)p << 32;
}
static long *found(void) { return (long *)(uint64_t)(((unsigned __int128)high << 64 | low) >> 32); }
#elif defined(KIND_wide)
static unsigned __int128 kept;
static void hide(long *p) { kept = (unsigned __int128)(uintptr_t)p << 64 | 5; }
static long *found(void) { return (long *)(uintptr_t)(kept >> 64); }
#elif defined(KIND_wide_product)
static unsigned __int128 kept;
static void hide(long *p) { kept = (unsigned __int128)(uintptr_t)p * 0x100000001; }
static long *found(void) { return (long *)(uintptr_t)(kept / 0x100000001); }
#elif defined(KIND_bit_int)
static unsigned _BitInt(48) kept;
static void hide(long *p) { kept = (unsigned _BitInt(48))(uintptr_t)p; }
static long *found(void) { return (long *)(uintptr_t)kept; }
#elif defined(KIND_bit_int_wide)
static unsigned _BitInt(200) kept;
static void hide(long *p) { kept = (unsigned _BitInt(200))(uintptr_t)p << 99; }
static long *found(void) { return (long *)(uintptr_t)(kept >> 99); }
#elif defined(KIND_choice)
static uint64_t kept;
static int odd;
static void hide(long *p) {
  odd = rand() & 1;
  kept = odd ? (uint64_t)p ^ 0xff00 : (uint64_t)p ^ 0xff;
}
static long *found(void) { return (long *)(kept ^ (odd ? 0xff00 : 0xff)); }
#elif defined(KIND_offset_null)
static uint64_t kept;
static void hide(long *p) { kept = (uint64_t)p * 2; }
static long *found(void) { return (long *)((char *)0 + kept / 2); }
#elif defined(KIND_global)
static uintptr_t kept = (uintptr_t)x + 1;
static void hide(long *p) { (void)p; }
static long *found(void) { return (long *)(kept * 2 - kept - 1); }
#elif defined(KIND_array)
static uint64_t keys[2], kept[8];
static void hide(long *p) { keys[1] = 77, kept[rand() % 8 & 4] = (uint64_t)p ^ keys[1]; }
static long *found(void) {
  for (int i = 0; i < 8; ++i)
    if (kept[i])
      return (long *)(kept[i] ^ keys[1]);
  return 0;
}
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
