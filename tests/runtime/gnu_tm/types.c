/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * Every type of the ABI, at every alignment that C allows it, and the memory functions, beside
 * plain C; committed and cancelled. */
#include "check.h"

#include <complex.h>
#include <stdint.h>
#include <string.h>

typedef int m64 __attribute__((vector_size(8)));
typedef float m128 __attribute__((vector_size(16)));

#define TYPES(DO)                                                                                  \
  DO(uint8_t)                                                                                      \
  DO(uint16_t)                                                                                     \
  DO(uint32_t)                                                                                     \
  DO(uint64_t)                                                                                     \
  DO(float)                                                                                        \
  DO(double)                                                                                       \
  DO(m64)                                                                                          \
  DO(m128)

typedef float _Complex cf;
typedef double _Complex cd;
typedef long double ld;

static int cancel;

#define TEST(TYPE)                                                                                 \
  struct __attribute__((packed)) packed_##TYPE {                                                   \
    char pad;                                                                                      \
    TYPE value;                                                                                    \
  };                                                                                               \
  static TYPE aligned_##TYPE[8];                                                                   \
  static struct packed_##TYPE packed_values_##TYPE[8];                                             \
  static void test_##TYPE(void) {                                                                  \
    TYPE in[8];                                                                                    \
    TYPE old[8];                                                                                   \
    memset(in, 0, sizeof in);                                                                      \
    memset(old, 0, sizeof old);                                                                    \
    for (int i = 0; i < 8; ++i) {                                                                  \
      memset(&in[i], 0x11 * (i + 1) & 0x3f, sizeof(TYPE));                                         \
      memset(&old[i], 0x20 + i, sizeof(TYPE));                                                     \
      aligned_##TYPE[i] = old[i];                                                                  \
      packed_values_##TYPE[i].value = old[i];                                                      \
      packed_values_##TYPE[i].pad = (char)i;                                                       \
    }                                                                                              \
    __transaction_atomic {                                                                         \
      for (int i = 0; i < 8; ++i) {                                                                \
        aligned_##TYPE[i] = in[i];                                                                 \
        packed_values_##TYPE[i].value = aligned_##TYPE[i];                                         \
      }                                                                                            \
      for (int i = 0; i < 7; ++i) {                                                                \
        TYPE other = packed_values_##TYPE[i + 1].value;                                            \
        packed_values_##TYPE[i].value = other;                                                     \
      }                                                                                            \
      if (cancel)                                                                                  \
        __transaction_cancel;                                                                      \
    }                                                                                              \
    for (int i = 0; i < 8; ++i) {                                                                  \
      const TYPE *expected = cancel ? &old[i] : &in[i];                                            \
      const TYPE *shifted = cancel ? &old[i] : &in[i < 7 ? i + 1 : 7];                             \
      TYPE got = packed_values_##TYPE[i].value;                                                    \
      EXPECT(memcmp(&aligned_##TYPE[i], expected, sizeof(TYPE)) == 0);                             \
      EXPECT(memcmp(&got, shifted, sizeof(TYPE)) == 0);                                            \
      EXPECT(packed_values_##TYPE[i].pad == (char)i);                                              \
    }                                                                                              \
  }
TYPES(TEST)

/* Types whose bytes do not all count: compared as values. */
#define VALUE_TEST(TYPE)                                                                           \
  static TYPE value_##TYPE[4];                                                                     \
  static void value_test_##TYPE(void) {                                                            \
    for (int i = 0; i < 4; ++i)                                                                    \
      value_##TYPE[i] = (TYPE)i;                                                                   \
    __transaction_atomic {                                                                         \
      for (int i = 0; i < 3; ++i)                                                                  \
        value_##TYPE[i] = value_##TYPE[i + 1] * 2 + value_##TYPE[i];                               \
      if (cancel)                                                                                  \
        __transaction_cancel;                                                                      \
    }                                                                                              \
    for (int i = 0; i < 4; ++i)                                                                    \
      EXPECT(value_##TYPE[i] == (TYPE)(cancel || i == 3 ? i : 3 * i + 2));                         \
  }
VALUE_TEST(cf)
VALUE_TEST(cd)
VALUE_TEST(ld)

static unsigned char area[1000];
static unsigned char model[1000];

/* Overlapping in both directions, sizes around the runtime's pieces. */
static void test_blocks(void) {
  static const int sizes[] = {0, 1, 7, 8, 9, 63, 255, 256, 257, 300, 511};
  for (unsigned s = 0; s < sizeof sizes / sizeof *sizes; ++s)
    for (int from = 0; from < 20; from += 3)
      for (int to = 0; to < 300; to += 37) {
        unsigned char before[1000];
        int size = sizes[s];
        for (int i = 0; i < 1000; ++i)
          area[i] = model[i] = (unsigned char)(i * 7 + size);
        memcpy(before, area, sizeof area);
        memmove(model + to, model + from, size);
        memset(model + 900, size, 17);
        memcpy(model + 950, model + 3, 11);
        __transaction_atomic {
          memmove(area + to, area + from, size);
          memset(area + 900, size, 17);
          memcpy(area + 950, area + 3, 11);
          if (cancel)
            __transaction_cancel;
        }
        EXPECT(memcmp(area, cancel ? before : model, sizeof area) == 0);
      }
}

/* A byte next to one that is written belongs to somebody else. */
static void test_parts(void) {
  static union {
    uint64_t whole;
    uint8_t byte[8];
    uint16_t half[4];
    uint32_t word[2];
  } u;
  u.whole = 0x0807060504030201;
  uint64_t seen[4] = {0};
  __transaction_atomic {
    u.byte[2] = 0xaa;
    seen[0] = u.whole;
    u.half[3] = 0xbbcc;
    seen[1] = u.word[1];
    u.word[0] = 0x11223344;
    seen[2] = u.whole;
    u.byte[0] = 0x99;
    seen[3] = u.half[0];
    if (cancel)
      __transaction_cancel;
  }
  EXPECT(u.whole == (cancel ? 0x0807060504030201 : 0xbbcc060511223399));
  EXPECT(cancel || (seen[0] == 0x0807060504aa0201 && seen[1] == 0xbbcc0605 &&
                    seen[2] == 0xbbcc060511223344 && seen[3] == 0x3399));
}

static void all(void) {
  for (cancel = 0; cancel < 2; ++cancel) {
#define RUN(TYPE) test_##TYPE();
    TYPES(RUN)
    value_test_cf();
    value_test_cd();
    value_test_ld();
    test_blocks();
    test_parts();
  }
}

int main(void) {
  all();
  have_a_second_thread();
  all();
  return 0;
}
