// An address in a vector is followed.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -mavx2 -maes -mbmi2 -mssse3 -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = shuffled
// RUN: %{check}
// REDEFINE: %{kind} = constant
// RUN: %{check}
// REDEFINE: %{kind} = arithmetic
// RUN: %{check}
// REDEFINE: %{kind} = parts
// RUN: %{check}
// REDEFINE: %{kind} = variable_index
// RUN: %{check}
// REDEFINE: %{kind} = intrinsics
// RUN: %{check}
// REDEFINE: %{kind} = masked
// RUN: %{check}
// REDEFINE: %{kind} = gathered
// RUN: %{check}
// REDEFINE: %{kind} = crypt
// RUN: %{check}
// REDEFINE: %{kind} = floats
// RUN: %{check}
// REDEFINE: %{kind} = deposit
// RUN: %{check}
#include "Inputs/hidden.h"

#include <immintrin.h>

typedef uint64_t two __attribute__((vector_size(16)));
typedef uint32_t four __attribute__((vector_size(16)));

#if defined(KIND_shuffled)
static long other;
static two kept;
static void hide(long *p) { kept = (two){(uint64_t)&other, (uint64_t)p}; }
static long *found(void) {
  two v = kept;
  v = __builtin_shufflevector(v, v, 1, 0);
  return (long *)v[0];
}
#elif defined(KIND_constant)
static two kept;
static void hide(long *p) {
  (void)p;
  kept = (two){(uint64_t)&kept, (uint64_t)x};
}
static long *found(void) { return (long *)kept[1]; }
#elif defined(KIND_arithmetic)
static two kept;
static void hide(long *p) { kept = (two){(uint64_t)p, 1} << 3; }
static long *found(void) { return (long *)((kept ^ 5) >> 3)[0]; }
#elif defined(KIND_parts)
static four kept;
static void hide(long *p) {
  four v = {(uint32_t)(uint64_t)p, 0, (uint32_t)((uint64_t)p >> 32), 1};
  kept = v + 1;
}
static long *found(void) {
  four v = kept - 1;
  return (long *)((uint64_t)v[2] << 32 | v[0]);
}
#elif defined(KIND_variable_index)
static two kept;
static volatile int at = 1;
static void hide(long *p) { kept[at] = (uint64_t)p * 2; }
static long *found(void) { return (long *)(kept[at] / 2); }
#elif defined(KIND_intrinsics)
static __m128i kept;
static void hide(long *p) {
  kept = _mm_shuffle_epi8(_mm_set1_epi64x((long long)p),
                          _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 7, 6, 5, 4, 3, 2, 1, 0));
}
static long *found(void) { return (long *)_mm_cvtsi128_si64(kept); }
#elif defined(KIND_masked)
static long long kept[4];
static void hide(long *p) {
  _mm256_maskstore_epi64(kept, _mm256_set_epi64x(0, -1, 0, 0), _mm256_set1_epi64x((long long)p));
}
static long *found(void) {
  __m256i v = _mm256_maskload_epi64(kept, _mm256_set_epi64x(0, -1, 0, 0));
  return (long *)_mm256_extract_epi64(v, 2);
}
#elif defined(KIND_gathered)
static long long kept[4];
static void hide(long *p) { kept[3] = (long long)p; }
static long *found(void) {
  __m256i v = _mm256_i64gather_epi64(kept, _mm256_set_epi64x(3, 2, 1, 0), 8);
  return (long *)_mm256_extract_epi64(v, 3);
}
#elif defined(KIND_crypt)
static __m128i kept, key;
static void hide(long *p) {
  key = _mm_set1_epi8(77);
  kept = _mm_aesenc_si128(_mm_set_epi64x(0, (long long)p), key);
}
static long *found(void) {
  __m128i v = _mm_aesdeclast_si128(_mm_aesimc_si128(_mm_xor_si128(kept, key)), _mm_setzero_si128());
  v = _mm_shuffle_epi8(v, _mm_set_epi8(15, 14, 13, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0));
  return (long *)_mm_cvtsi128_si64(v);
}
#elif defined(KIND_floats)
static __m128d kept;
static void hide(long *p) { kept = _mm_castsi128_pd(_mm_set1_epi64x((long long)p)); }
static long *found(void) {
  return (long *)_mm_cvtsi128_si64(_mm_castpd_si128(_mm_unpackhi_pd(kept, kept)));
}
#elif defined(KIND_deposit)
static uint64_t kept;
static void hide(long *p) { kept = _pdep_u64((uint64_t)p, 0x5555555555555555); }
static long *found(void) {
  return (long *)(_pext_u64(kept, 0x5555555555555555) | ((uint64_t)x >> 32 << 32));
}
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
