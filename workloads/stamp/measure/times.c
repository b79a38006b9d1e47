/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * How long sections are: a sequential build that reads the time stamp counter around each. What
 * reading it costs is measured before, and taken off.
 */
#include "lib/harness.h"

#include <stdlib.h>
#include <time.h>
#include <x86intrin.h>

enum { MOST_SAMPLES = 1 << 24, CALIBRATIONS = 10000 };

static uint64_t begin_ticks;
static uint64_t region_begin_ticks, region_begin_ns;
static uint64_t cost_ticks;
static uint64_t sections, inside_ticks;
static uint32_t *samples; /* in ticks, of the first MOST_SAMPLES sections */

static uint64_t now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

bool stamp_enter(void) {
  begin_ticks = __rdtsc();
  return true;
}

void stamp_leave(const bool *inside) {
  (void)inside;
  const uint64_t ticks = __rdtsc() - begin_ticks;
  const uint64_t net = ticks > cost_ticks ? ticks - cost_ticks : 0;
  if (samples != NULL && sections < MOST_SAMPLES)
    samples[sections] = net < UINT32_MAX ? (uint32_t)net : UINT32_MAX;
  inside_ticks += net;
  sections++;
}

void stamp_measure_begin(void) {
  uint64_t least = UINT64_MAX;
  cost_ticks = 0;
  for (int i = 0; i < CALIBRATIONS; i++) {
    const uint64_t before = inside_ticks;
    const bool inside = stamp_enter();
    stamp_leave(&inside);
    least = inside_ticks - before < least ? inside_ticks - before : least;
  }
  cost_ticks = least;
  samples = calloc(MOST_SAMPLES, sizeof *samples);
  if (samples == NULL)
    abort();
  sections = inside_ticks = 0;
  region_begin_ns = now_ns();
  region_begin_ticks = __rdtsc();
}

static int compare(const void *a, const void *b) {
  const uint32_t x = *(const uint32_t *)a;
  const uint32_t y = *(const uint32_t *)b;
  return x < y ? -1 : x > y;
}

/* Of the region. */
static double region_ticks, ns_per_tick;
static double median_ticks, p90_ticks;

static void evaluate(void) {
  const uint64_t kept = sections < MOST_SAMPLES ? sections : MOST_SAMPLES;
  qsort(samples, kept, sizeof *samples, compare);
  median_ticks = kept == 0 ? 0 : samples[kept / 2];
  p90_ticks = kept == 0 ? 0 : samples[kept * 9 / 10];
}

void stamp_measure_end(void) {
  region_ticks = (double)(__rdtsc() - region_begin_ticks);
  ns_per_tick = (double)(now_ns() - region_begin_ns) / region_ticks;
  region_ticks -= (double)(cost_ticks * sections);
  evaluate();
}

struct stamp_measures stamp_measures(void) {
  static const char *const names[] = {"share", "ns_median", "ns_p90"};
  static double values[3];
  values[0] = (double)inside_ticks / region_ticks;
  values[1] = median_ticks * ns_per_tick;
  values[2] = p90_ticks * ns_per_tick;
  return (struct stamp_measures){names, values, 3};
}
