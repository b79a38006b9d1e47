/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What sections read and write: in the place of libitm, for programs compiled by gcc -fgnu-tm. One
 * section runs at a time, and is never rolled back; every access that gcc instruments is noted. A
 * set counts cache lines of 64 bytes, without those of the section's own stack.
 *
 * It has what gcc needs for the applications of this suite; others do not link.
 */
#include "lib/harness.h"

#include <pthread.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

enum { LINE_SHIFT = 6, SLOTS = 1 << 20, LARGEST = 1 << 17, READ = 1, WRITTEN = 2 };

/* A line of the section numbered `section`. */
struct slot {
  uintptr_t line;
  uint64_t section;
  unsigned how;
};

/* How often each number of lines was seen; the last one stands for more. */
struct histogram {
  uint64_t *counts; /* LARGEST + 1 of them */
  uint64_t sum, most;
};

/* All of this belongs to the thread that has the lock. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot slots[SLOTS];
static uint64_t section;
static uint64_t sections_measured;
static uintptr_t stack_top;
static uint64_t lines_read, lines_written, accesses;
static uint64_t all_accesses;
static struct histogram reads, writes;
static bool measuring;

/* With STAMP_LOSE=N in the environment, store N of the region is lost: what verification must
 * notice. */
static uint64_t lost_store, stores;

static bool is_lost(void) { return measuring && ++stores == lost_store; }

static void histogram_add(struct histogram *histogram, uint64_t lines) {
  histogram->counts[lines < LARGEST ? lines : LARGEST]++;
  histogram->sum += lines;
  histogram->most = lines > histogram->most ? lines : histogram->most;
}

/* The least number of lines that a share of the sections does not exceed. */
static double quantile(const struct histogram *histogram, double share) {
  uint64_t seen = 0;
  for (uint64_t lines = 0; lines <= LARGEST; lines++) {
    seen += histogram->counts[lines];
    if ((double)seen >= share * (double)sections_measured)
      return (double)lines;
  }
  return LARGEST;
}

static void note_line(uintptr_t line, unsigned how) {
  uint64_t at = random_mix(line) % SLOTS;
  while (slots[at].section == section && slots[at].line != line)
    at = (at + 1) % SLOTS;
  if (slots[at].section != section)
    slots[at] = (struct slot){line, section, 0};
  if (slots[at].how & how)
    return;
  slots[at].how |= how;
  if (how == READ)
    lines_read++;
  else
    lines_written++;
}

static void note(const void *memory, size_t bytes, unsigned how) {
  const uintptr_t begin = (uintptr_t)memory;
  const uintptr_t here = (uintptr_t)__builtin_frame_address(0);
  accesses++;
  if (bytes == 0 || (begin >= here && begin < stack_top))
    return;
  for (uintptr_t line = begin >> LINE_SHIFT; line <= (begin + bytes - 1) >> LINE_SHIFT; line++)
    note_line(line, how);
}

void stamp_measure_begin(void) {
  reads.counts = calloc(LARGEST + 1, sizeof(uint64_t));
  writes.counts = calloc(LARGEST + 1, sizeof(uint64_t));
  if (reads.counts == NULL || writes.counts == NULL)
    abort();
  const char *lose = getenv("STAMP_LOSE");
  lost_store = lose == NULL ? 0 : strtoull(lose, NULL, 10);
  measuring = true;
}

void stamp_measure_end(void) { measuring = false; }

struct stamp_measures stamp_measures(void) {
  static const char *const names[] = {"sections",  "accesses_mean", "read_mean", "read_p90",
                                      "read_most", "write_mean",    "write_p90", "write_most"};
  static double values[8];
  const double count = sections_measured == 0 ? 1 : (double)sections_measured;
  values[0] = (double)sections_measured;
  values[1] = (double)all_accesses / count;
  values[2] = (double)reads.sum / count;
  values[3] = quantile(&reads, 0.9);
  values[4] = (double)reads.most;
  values[5] = (double)writes.sum / count;
  values[6] = quantile(&writes, 0.9);
  values[7] = (double)writes.most;
  return (struct stamp_measures){names, values, 8};
}

/* The ABI of libitm, as far as it is needed here. */
uint32_t _ITM_beginTransaction(uint32_t properties, ...);
void _ITM_commitTransaction(void);
void *_ITM_malloc(size_t bytes);
void _ITM_free(void *memory);

enum { RUN_INSTRUMENTED = 1 };

uint32_t _ITM_beginTransaction(uint32_t properties, ...) {
  (void)properties;
  pthread_mutex_lock(&lock);
  section++;
  stack_top = (uintptr_t)__builtin_frame_address(0);
  lines_read = lines_written = accesses = 0;
  return RUN_INSTRUMENTED;
}

void _ITM_commitTransaction(void) {
  if (measuring) {
    sections_measured++;
    all_accesses += accesses;
    histogram_add(&reads, lines_read);
    histogram_add(&writes, lines_written);
  }
  pthread_mutex_unlock(&lock);
}

void *_ITM_malloc(size_t bytes) { return malloc(bytes); }
void _ITM_free(void *memory) { free(memory); }

/* Sections have no way to be rolled back, and call nothing through pointers. */
void _ITM_registerTMCloneTable(void *table, size_t size);
void _ITM_deregisterTMCloneTable(void *table);
void _ITM_registerTMCloneTable(void *table, size_t size) {
  (void)table;
  (void)size;
}
void _ITM_deregisterTMCloneTable(void *table) { (void)table; }

#define LOAD(name, suffix, type, how)                                                              \
  type _ITM_##name##suffix(const type *from);                                                      \
  type _ITM_##name##suffix(const type *from) {                                                     \
    note(from, sizeof(type), READ);                                                                \
    if (how)                                                                                       \
      note(from, sizeof(type), how);                                                               \
    return *from;                                                                                  \
  }
#define STORE(name, suffix, type)                                                                  \
  void _ITM_##name##suffix(type *to, type value);                                                  \
  void _ITM_##name##suffix(type *to, type value) {                                                 \
    note(to, sizeof(type), WRITTEN);                                                               \
    if (!is_lost())                                                                                \
      *to = value;                                                                                 \
  }
#define ACCESSES(suffix, type)                                                                     \
  LOAD(R, suffix, type, 0)                                                                         \
  LOAD(RaR, suffix, type, 0)                                                                       \
  LOAD(RaW, suffix, type, 0)                                                                       \
  LOAD(RfW, suffix, type, WRITTEN)                                                                 \
  STORE(W, suffix, type)                                                                           \
  STORE(WaR, suffix, type)                                                                         \
  STORE(WaW, suffix, type)                                                                         \
  void _ITM_L##suffix(const type *old);                                                            \
  void _ITM_L##suffix(const type *old) { (void)old; }

typedef float vector64 __attribute__((vector_size(8), aligned(4)));
typedef float vector128 __attribute__((vector_size(16), aligned(4)));

ACCESSES(U1, uint8_t)
ACCESSES(U2, uint16_t)
ACCESSES(U4, uint32_t)
ACCESSES(U8, uint64_t)
ACCESSES(F, float)
ACCESSES(D, double)
ACCESSES(M64, vector64)
ACCESSES(M128, vector128)

void _ITM_LB(const void *old, size_t bytes);
void _ITM_LB(const void *old, size_t bytes) {
  (void)old;
  (void)bytes;
}

#define COPY(name, from_how, to_how)                                                               \
  void name(void *to, const void *from, size_t bytes);                                             \
  void name(void *to, const void *from, size_t bytes) {                                            \
    if (from_how)                                                                                  \
      note(from, bytes, READ);                                                                     \
    if (to_how)                                                                                    \
      note(to, bytes, WRITTEN);                                                                    \
    memmove(to, from, bytes);                                                                      \
  }

COPY(_ITM_memcpyRnWt, 0, 1)
COPY(_ITM_memcpyRtWn, 1, 0)
COPY(_ITM_memcpyRtWt, 1, 1)
COPY(_ITM_memmoveRnWt, 0, 1)
COPY(_ITM_memmoveRtWn, 1, 0)
COPY(_ITM_memmoveRtWt, 1, 1)
