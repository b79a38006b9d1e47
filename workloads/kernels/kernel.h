/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * What the kernels share: threads, a barrier that spins, numbers from a seed, and the part that a
 * simulated machine is to measure. A kernel is
 *
 *   NAME [THREADS [SIZE]]      default: 16 threads and a size for tests
 *
 * It prepares its data (functional), goes once through its work (warming), then once more (timing),
 * checks the result and prints a line; status 1: the result is wrong. Elsewhere the hints do
 * nothing.
 */
#ifndef TANDEM_KERNEL_H
#define TANDEM_KERNEL_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tandem/machine.h"

enum { kMaxThreads = 64, kLine = 64 };

static unsigned threads = 16;

/* Sense-reversing; all threads meet. */
static _Alignas(kLine) atomic_uint kernel_arrived;
static _Alignas(kLine) atomic_uint kernel_round;

static inline void barrier(void) {
  const unsigned round = atomic_load_explicit(&kernel_round, memory_order_relaxed);
  if (atomic_fetch_add(&kernel_arrived, 1) == threads - 1) {
    atomic_store_explicit(&kernel_arrived, 0, memory_order_relaxed);
    atomic_store_explicit(&kernel_round, round + 1, memory_order_release);
    return;
  }
  while (atomic_load_explicit(&kernel_round, memory_order_acquire) == round)
    ;
}

static inline uint64_t next_random(uint64_t *state) { /* SplitMix64 */
  *state += 0x9e3779b97f4a7c15;
  uint64_t z = *state;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

/* The part [begin, end) of `count` that a thread has. */
static inline size_t part_begin(size_t count, unsigned thread) { return count * thread / threads; }
static inline size_t part_end(size_t count, unsigned thread) {
  return count * (thread + 1) / threads;
}

static inline void *make_array(size_t bytes) {
  void *made = aligned_alloc(kLine, (bytes + kLine - 1) / kLine * kLine);
  if (!made) {
    fprintf(stderr, "no memory\n");
    exit(2);
  }
  return made;
}

/* Of each kernel. */
static void prepare(size_t size);     /* by one thread */
static void restore(unsigned thread); /* the input again, by all threads */
static void work(unsigned thread);    /* by all threads */
static int is_right(void);            /* by one thread, after the second time */

static void *kernel_thread(void *argument) {
  const unsigned thread = (unsigned)(uintptr_t)argument;
  restore(thread);
  barrier();
  if (thread == 0)
    TANDEM_MACHINE_WARMING();
  barrier();
  work(thread);
  barrier();
  restore(thread);
  barrier();
  if (thread == 0)
    TANDEM_MACHINE_TIMING();
  barrier();
  work(thread);
  barrier();
  if (thread == 0)
    TANDEM_MACHINE_FUNCTIONAL();
  return 0;
}

static int kernel_main(int argc, char **argv, const char *name, size_t size) {
  if (argc > 1)
    threads = (unsigned)strtoul(argv[1], 0, 10);
  if (argc > 2)
    size = strtoull(argv[2], 0, 10);
  if (argc > 3 || threads == 0 || threads > kMaxThreads || size == 0) {
    fprintf(stderr, "usage: %s [THREADS [SIZE]], 1 to %d threads\n", name, kMaxThreads);
    return 2;
  }
  prepare(size);
  pthread_t others[kMaxThreads];
  for (uintptr_t thread = 1; thread < threads; ++thread)
    if (pthread_create(&others[thread], 0, kernel_thread, (void *)thread) != 0) {
      fprintf(stderr, "%s: no thread\n", name);
      return 2;
    }
  kernel_thread(0);
  for (unsigned thread = 1; thread < threads; ++thread)
    pthread_join(others[thread], 0);
  const int right = is_right();
  printf("%s, %u threads, size %zu: %s\n", name, threads, size, right ? "right" : "wrong");
  return right ? 0 : 1;
}

#endif
