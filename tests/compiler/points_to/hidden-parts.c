// An address that is taken apart is followed part by part.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = quarters
// RUN: %{check}
// REDEFINE: %{kind} = bytes
// RUN: %{check}
// REDEFINE: %{kind} = copied_halves
// RUN: %{check}
// REDEFINE: %{kind} = union_halves
// RUN: %{check}
// REDEFINE: %{kind} = last_bytes
// RUN: %{check}
// REDEFINE: %{kind} = page
// RUN: %{check}
// REDEFINE: %{kind} = characters
// RUN: %{check}
// REDEFINE: %{kind} = mangled_characters
// RUN: %{check}
// REDEFINE: %{kind} = packed
// RUN: %{check}
// REDEFINE: %{kind} = misaligned
// RUN: %{check}
// REDEFINE: %{kind} = arguments
// RUN: %{check}
// REDEFINE: %{kind} = structure
// RUN: %{check}
// REDEFINE: %{kind} = variable
// RUN: %{check}
// REDEFINE: %{kind} = variable_structure
// RUN: %{check}
// REDEFINE: %{kind} = pointer
// RUN: %{check}
#include "Inputs/hidden.h"

#if defined(KIND_halves)
static uint32_t low, high;
static void hide(long *p) {
  low = (uint32_t)(uint64_t)p;
  high = (uint32_t)((uint64_t)p >> 32);
}
static long *found(void) { return (long *)((uint64_t)high << 32 | low); }
#elif defined(KIND_quarters)
static uint16_t part[4];
static void hide(long *p) {
  for (int i = 0; i < 4; ++i)
    part[i] = (uint16_t)((uint64_t)p >> 16 * i);
}
static long *found(void) {
  uint64_t p = 0;
  for (int i = 3; i >= 0; --i)
    p = p << 16 | part[i];
  return (long *)p;
}
#elif defined(KIND_bytes)
static unsigned char kept[8];
static void hide(long *p) {
  kept[0] = (unsigned char)((uint64_t)p >> 56), kept[1] = (unsigned char)((uint64_t)p >> 48);
  kept[2] = (unsigned char)((uint64_t)p >> 40), kept[3] = (unsigned char)((uint64_t)p >> 32);
  kept[4] = (unsigned char)((uint64_t)p >> 24), kept[5] = (unsigned char)((uint64_t)p >> 16);
  kept[6] = (unsigned char)((uint64_t)p >> 8), kept[7] = (unsigned char)(uint64_t)p;
}
static long *found(void) {
  uint64_t p = 0;
  for (int i = 0; i < 8; ++i)
    p = p << 8 | kept[i];
  return (long *)p;
}
#elif defined(KIND_copied_halves)
static uint32_t kept[2];
static void hide(long *p) { memcpy(kept, &p, sizeof p); }
static long *found(void) {
  uint32_t mine[2] = {kept[0], kept[1]};
  long *p;
  memcpy(&p, mine, sizeof p);
  return p;
}
#elif defined(KIND_union_halves)
static union both {
  long *p;
  uint32_t half[2];
} kept;
static void hide(long *p) {
  union both u = {.p = p};
  kept.half[0] = u.half[1] + 1;
  kept.half[1] = u.half[0] + 1;
}
static long *found(void) {
  union both u;
  u.half[0] = kept.half[1] - 1;
  u.half[1] = kept.half[0] - 1;
  return u.p;
}
#elif defined(KIND_last_bytes)
// The first two bytes are zero and not kept.
static char kept[6];
static void hide(long *p) { memcpy(kept, (char *)&p + 2, 6); }
static long *found(void) {
  long *p = 0;
  memcpy((char *)&p + 2, kept, 6);
  return p;
}
#elif defined(KIND_page)
static uint32_t page;
static void hide(long *p) { page = (uint32_t)((uint64_t)p >> 16); }
static long *found(void) { return (long *)((uint64_t)page << 16); }
#elif defined(KIND_characters)
static char kept[8];
static void hide(long *p) {
  for (unsigned i = 0; i < 8; ++i)
    kept[7 - i] = ((char *)&p)[i];
}
static long *found(void) {
  long *p;
  for (unsigned i = 0; i < 8; ++i)
    ((char *)&p)[i] = kept[7 - i];
  return p;
}
#elif defined(KIND_mangled_characters)
static char kept[8];
static void hide(long *p) {
  memcpy(kept, &p, 8);
  for (int i = 0; i < 8; ++i)
    kept[i] ^= 0x55;
}
static long *found(void) {
  long *p;
  char plain[8];
  for (int i = 0; i < 8; ++i)
    plain[i] = kept[i] ^ 0x55;
  memcpy(&p, plain, 8);
  return p;
}
#elif defined(KIND_packed)
static struct __attribute__((packed)) {
  char tag;
  uint64_t address;
  char end;
} kept;
static void hide(long *p) { kept.tag = 1, kept.address = (uint64_t)p << 1, kept.end = 2; }
static long *found(void) { return (long *)(kept.address >> 1); }
#elif defined(KIND_misaligned)
static char kept[32];
static void hide(long *p) { memcpy(kept + 3, &p, 8); }
static long *found(void) {
  uint64_t a, b;
  memcpy(&a, kept + 1, 8);
  memcpy(&b, kept + 9, 8);
  return (long *)(a >> 16 | b << 48);
}
#elif defined(KIND_arguments)
static uint32_t low, high;
__attribute__((noinline)) static void keep(uint32_t a, uint32_t b) { low = a, high = b; }
__attribute__((noinline)) static uint32_t part(int which) { return which ? high : low; }
static void hide(long *p) { keep((uint32_t)(uint64_t)p, (uint32_t)((uint64_t)p >> 32)); }
static long *found(void) { return (long *)((uint64_t)part(1) << 32 | part(0)); }
#elif defined(KIND_structure)
struct halves {
  uint32_t low, high;
  uint64_t more[3];
};
static struct halves kept;
__attribute__((noinline)) static struct halves split(long *p) {
  return (struct halves){(uint32_t)(uint64_t)p, (uint32_t)((uint64_t)p >> 32), {0}};
}
static void hide(long *p) { kept = split(p); }
static long *found(void) {
  struct halves mine = kept;
  return (long *)((uint64_t)mine.high << 32 | mine.low);
}
#elif defined(KIND_variable)
#include <stdarg.h>
static uint32_t low, high;
__attribute__((noinline)) static void keep(int count, ...) {
  va_list list;
  va_start(list, count);
  low = va_arg(list, unsigned);
  high = va_arg(list, unsigned);
  va_end(list);
}
static void hide(long *p) { keep(2, (unsigned)(uint64_t)p, (unsigned)((uint64_t)p >> 32)); }
static long *found(void) { return (long *)((uint64_t)high << 32 | low); }
#elif defined(KIND_variable_structure)
#include <stdarg.h>
struct big {
  long *p;
  long more[3];
};
static long *kept;
__attribute__((noinline)) static void keep(int count, ...) {
  va_list list;
  va_start(list, count);
  struct big b = va_arg(list, struct big);
  kept = b.p;
  va_end(list);
}
static void hide(long *p) {
  struct big b = {p, {0}};
  keep(1, b);
}
static long *found(void) { return kept; }
#elif defined(KIND_pointer)
static uint32_t low, high;
static void (*volatile keep)(uint32_t, uint32_t);
static void keep_both(uint32_t a, uint32_t b) { low = a, high = b; }
static void hide(long *p) {
  keep = keep_both;
  keep((uint32_t)(uint64_t)p, (uint32_t)((uint64_t)p >> 32));
}
static long *found(void) { return (long *)((uint64_t)high << 32 | low); }
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
