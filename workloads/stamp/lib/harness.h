/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What every application of the suite has in common: the command line, the threads, the timed
 * region, and the report. An application defines `stamp_application`; main() is in harness.c.
 *
 * The life of a run: prepare (one thread), run (all threads at once, timed), verify (one thread).
 */
#pragma once

#include "lib/random.h"
#include "lib/section.h"

#include <stdbool.h>
#include <stdint.h>

enum { STAMP_MOST_THREADS = 64 };

enum stamp_size { STAMP_TEST, STAMP_SMALL, STAMP_MEDIUM, STAMP_LARGE, STAMP_SIZES };

/* What one thread works with; nobody else touches it while threads run. */
struct stamp_thread {
  _Alignas(128) unsigned index; /* from 0 */
  uint64_t sections;            /* that it has run; the application counts */
  struct random random;         /* a stream of its own */
};

struct stamp_application {
  const char *name;
  const char *summary;
  const char *const *inputs; /* names of the inputs, ended by null; null: there is only one */
  void (*prepare)(enum stamp_size size, unsigned input, uint64_t seed);
  void (*run)(struct stamp_thread *self);
  bool (*verify)(void); /* false after stamp_wrong() */
};

extern const struct stamp_application stamp_application;

/* Number of threads of this run, 1 to STAMP_MOST_THREADS. */
unsigned stamp_threads(void);

/* Waits until all threads have come here. Outside of sections. */
void stamp_barrier(void);

/* The part of 0 .. count - 1 that belongs to a thread: begin .. end - 1. */
struct stamp_range {
  uint64_t begin, end;
};
struct stamp_range stamp_part(const struct stamp_thread *self, uint64_t count);

/* Says on standard error why the result is wrong; false. */
bool stamp_wrong(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Adds a number to the report, of verify only. At most 16. */
void stamp_report(const char *name, double value);

/* Takes part of the result into the report's checksum. The sum of equal parts is equal, whatever
 * their order, unless a part says where it belongs. */
void stamp_checksum(uint64_t part);

/* What a build that measures knows of the sections (measure/); absent elsewhere. */
struct stamp_measures {
  const char *const *names;
  const double *values;
  unsigned count;
};
__attribute__((weak)) struct stamp_measures stamp_measures(void);
__attribute__((weak)) void stamp_measure_begin(void); /* before the region */
__attribute__((weak)) void stamp_measure_end(void);   /* after it */

/* Of builds with -DSTAMP_ATTEMPTS: sections begun, those that ran again included. */
__attribute__((weak)) uint64_t stamp_attempts(void);
