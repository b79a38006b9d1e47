// An address that is written as text, or kept by the library as bytes, is followed.
// DEFINE: %{kind} =
// DEFINE: %{check} = %cc -DKIND_%{kind} %s > %t.bc \
// DEFINE:     && env TANDEM_ENFORCE=none %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s \
// DEFINE:     && env TANDEM_ENFORCE=none TANDEM_POINTS_TO=sensitive %tandem < %t.bc > %t.ll \
// DEFINE:     && %python %S/Inputs/edges.py %t.json | %FileCheck %s
// REDEFINE: %{kind} = pointer
// RUN: %{check}
// REDEFINE: %{kind} = number
// RUN: %{check}
// REDEFINE: %{kind} = halves
// RUN: %{check}
// REDEFINE: %{kind} = format
// RUN: %{check}
// REDEFINE: %{kind} = twice
// RUN: %{check}
// REDEFINE: %{kind} = list
// RUN: %{check}
// REDEFINE: %{kind} = allocated
// RUN: %{check}
// REDEFINE: %{kind} = wide
// RUN: %{check}
// REDEFINE: %{kind} = floating
// RUN: %{check}
// REDEFINE: %{kind} = environment
// RUN: %{check}
// REDEFINE: %{kind} = put_environment
// RUN: %{check}
// REDEFINE: %{kind} = sorted
// RUN: %{check}
// REDEFINE: %{kind} = specific
// RUN: %{check}
#include "Inputs/hidden.h"

#include <stdarg.h>
#include <wchar.h>

static char text[64];
#if defined(KIND_pointer)
static void hide(long *p) { snprintf(text, sizeof text, "at %p", (void *)p); }
static long *found(void) {
  void *p = 0;
  sscanf(text, "at %p", &p);
  return p;
}
#elif defined(KIND_number)
static void hide(long *p) { sprintf(text, "%lx", (unsigned long)p); }
static long *found(void) { return (long *)strtoul(text, 0, 16); }
#elif defined(KIND_halves)
static void hide(long *p) {
  sprintf(text, "%u %u", (unsigned)(uint64_t)p, (unsigned)((uint64_t)p >> 32));
}
static long *found(void) {
  unsigned low, high;
  sscanf(text, "%u %u", &low, &high);
  return (long *)((uint64_t)high << 32 | low);
}
#elif defined(KIND_format)
static const char *volatile format = "%lu";
static void hide(long *p) { snprintf(text, sizeof text, format, (unsigned long)p); }
static long *found(void) {
  unsigned long p;
  sscanf(text, format, &p);
  return (long *)p;
}
#elif defined(KIND_twice)
static char again[64];
static void hide(long *p) {
  char first[32];
  sprintf(first, "%lu", (unsigned long)p);
  sprintf(text, "x%s", first);
  strcpy(again, text + 1);
}
static long *found(void) {
  char *copy = strdup(again);
  return (long *)(uint64_t)atol(copy);
}
#elif defined(KIND_list)
static void keep(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsnprintf(text, sizeof text, format, list);
  va_end(list);
}
static void take(const char *format, ...) {
  va_list list;
  va_start(list, format);
  vsscanf(text, format, list);
  va_end(list);
}
static void hide(long *p) { keep("%d %p", 1, (void *)p); }
static long *found(void) {
  void *p = 0;
  take("1 %p", &p);
  return p;
}
#elif defined(KIND_allocated)
static char *made;
static void hide(long *p) { (void)!asprintf(&made, "%llu", (unsigned long long)p); }
static long *found(void) { return (long *)strtoull(made, 0, 10); }
#elif defined(KIND_wide)
static wchar_t letters[64];
static void hide(long *p) { swprintf(letters, 64, L"%lx", (unsigned long)p); }
static long *found(void) { return (long *)wcstoul(letters, 0, 16); }
#elif defined(KIND_floating)
static void hide(long *p) { sprintf(text, "%a", (double)(uint64_t)p); }
static long *found(void) { return (long *)(uint64_t)strtod(text, 0); }
#elif defined(KIND_environment)
static void hide(long *p) {
  snprintf(text, sizeof text, "%p", (void *)p);
  setenv("KEPT", text, 1);
}
static long *found(void) { return (long *)strtoul(getenv("KEPT"), 0, 16); }
#elif defined(KIND_put_environment)
static void hide(long *p) {
  snprintf(text, sizeof text, "KEPT=%p", (void *)p);
  putenv(text);
}
static long *found(void) { return (long *)strtoul(getenv("KEPT"), 0, 16); }
#elif defined(KIND_sorted)
static int compare(const void *a, const void *b) {
  return *(const uint64_t *)a < *(const uint64_t *)b ? -1 : 1;
}
static uint64_t kept[2];
static void hide(long *p) {
  kept[0] = (uint64_t)p << 1;
  qsort(kept, 2, sizeof *kept, compare);
}
static long *found(void) { return (long *)(kept[1] >> 1); }
#elif defined(KIND_specific)
static pthread_key_t key;
static void hide(long *p) {
  pthread_key_create(&key, 0);
  (void)p;
}
static long *found(void) {
  pthread_setspecific(key, (void *)((uint64_t)x ^ 0xff0));
  return (long *)((uint64_t)pthread_getspecific(key) ^ 0xff0);
}
#endif
// CHECK: edge apart apart
// CHECK-NEXT: edge mine theirs
// CHECK-NOT: edge
