// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// block_locals THREADS ROUNDS: sections that write locals of the function around them and read them
// again, which the compiler cannot know; on a stack that the system does not know, too; and words
// that are not aligned. Status 0: each section saw what it wrote itself, and none was lost.
#include "interleave.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <tandem/tandem.h>
#include <ucontext.h>

enum { kFew = 8, kMany = 20000, kBytes = 64 };
static volatile int at = 3; // not a constant
static long counts[kMany];
static long wrong;
static _Alignas(64) unsigned char bytes[kBytes];

// The place that is counted is what the section has just written.
__attribute__((noinline)) static void few(int to, int from) {
  long places[kFew] = {0, 1, 2, 3, 4, 5, 6, 7};
  tandem_atomic {
    places[to] = 6;
    counts[places[from]] += 1;
  }
}

__attribute__((noinline)) static void many(int to, int from) {
  long places[kMany];
  for (int i = 0; i < kMany; ++i)
    places[i] = i & 3;
  long seen = 0;
  tandem_atomic {
    places[to] = 7;
    interleave();
    counts[places[from]] += 1;
    seen = places[from];
  }
  if (seen != 7 || places[to] != 7)
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

// A word over two aligned ones, written and read again.
__attribute__((noinline)) static void unaligned(int from) {
  const unsigned long value = 0x1122334455667788;
  unsigned long seen = 0;
  unsigned long kept = 0;
  tandem_atomic {
    *(unsigned long *)(bytes + from) = value;
    ++bytes[kBytes - 1];
    seen = *(unsigned long *)(bytes + from); // the byte may be one of its
  }
  memcpy(&kept, bytes + from, sizeof kept);
  if (seen != value || kept != value)
    __atomic_fetch_add(&wrong, 1, __ATOMIC_RELAXED);
}

static __thread ucontext_t outside, inside;
static void on_own_stack(void) { many(kMany - at, kMany - at); }

static long rounds;
static void *run(void *number) {
  for (long i = 0; i < rounds; ++i)
    few(at, at);
  for (long i = 0; i < rounds; ++i)
    unaligned(at);
  many(at, at);
  const size_t size = 1 << 20;
  void *stack = malloc(size);
  getcontext(&inside);
  inside.uc_stack.ss_sp = stack;
  inside.uc_stack.ss_size = size;
  inside.uc_link = &outside;
  makecontext(&inside, on_own_stack, 0);
  swapcontext(&outside, &inside);
  free(stack);
  return number;
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  const int threads = atoi(argv[1]);
  rounds = 10 * atoi(argv[2]) / threads;
  pthread_t all[64];
  for (int i = 0; i < threads; ++i)
    pthread_create(&all[i], NULL, run, NULL);
  for (int i = 0; i < threads; ++i)
    pthread_join(all[i], NULL);
  if (wrong != 0 || counts[6] != rounds * threads || counts[7] != 2L * threads) {
    printf("%ld wrong, %ld of %ld, %ld of %d\n", wrong, counts[6], rounds * threads, counts[7],
           2 * threads);
    return 1;
  }
  return 0;
}
