/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* An intrinsic that stores is an effect like any store. */
#include <emmintrin.h>
#include <pthread.h>
#include <stddef.h>
enum { kRounds = 50000 };
static _Alignas(16) long stored[2];
static long copy;
static __attribute__((noinline)) void put(long value) {
  _mm_maskmoveu_si128(_mm_set1_epi64x(value), _mm_set1_epi8(-1), (char *)stored);
}
__attribute__((atomic)) void set(long value) {
  put(value);
  copy = value;
}
__attribute__((atomic)) int differ(void) { return stored[0] != copy; }
static void *work(void *argument) {
  (void)argument;
  for (long i = 0; i < kRounds; ++i)
    set(i);
  return NULL;
}
int main(void) {
  pthread_t thread;
  long torn = 0;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < kRounds; ++i)
    torn += differ();
  pthread_join(thread, NULL);
  return torn != 0;
}
