// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// by_value THREADS ROUNDS: sections that write a structure and pass it by value, in memory: to a
// function, to one by pointer and to a variadic one; and their own. Status 0: each call got what
// the section had written, and no section was lost.
#include "interleave.h"

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#define ATOMIC __attribute__((atomic))
enum { kWords = 6 };

struct big {
  long words[kWords];
};
struct wide {
  _Alignas(64) long words[8];
};

static struct big shared;
static struct wide lines;
static long wrong;

__attribute__((noinline)) static long sum(struct big b) {
  long result = 0;
  for (int i = 0; i < kWords; ++i)
    result += b.words[i];
  return result;
}
__attribute__((noinline)) static long first(struct big b) { return kWords * b.words[0]; }
__attribute__((noinline)) static long add(const struct big *b) { return sum(*b); }
__attribute__((noinline)) static long indirectly(struct big b) { return add(&b); }
__attribute__((noinline)) static long sum_wide(struct wide b) {
  const long misaligned = (long)((unsigned long)&b % 64);
  return b.words[0] + b.words[7] + misaligned;
}
__attribute__((noinline)) static long list(int count, ...) {
  long result = 0;
  va_list arguments;
  va_start(arguments, count);
  for (int i = 0; i < count; ++i)
    result += sum(va_arg(arguments, struct big));
  va_end(arguments);
  return result;
}
static long (*ways[2])(struct big) = {sum, first};

// The number of the section; negative if a call got anything else.
ATOMIC static long section(int round) {
  for (int i = 0; i < kWords; ++i)
    ++shared.words[i];
  lines.words[0] += 1;
  lines.words[7] += 2;
  const long number = shared.words[0];
  interleave();
  struct big own;
  for (int i = 0; i < kWords; ++i)
    own.words[i] = number;
  const long expected = kWords * number;
  if (sum(shared) != expected || ways[round & 1](shared) != expected ||
      indirectly(shared) != expected || list(2, shared, own) != 2 * expected ||
      indirectly(own) != expected || sum(own) != expected || sum_wide(lines) != 3 * number)
    return -1;
  return number;
}

static pthread_barrier_t start;

struct work {
  int rounds;
  unsigned long restarts;
};

static void *worker(void *argument) {
  struct work *work = argument;
  pthread_barrier_wait(&start);
  for (int i = 0; i < work->rounds; ++i)
    if (section(i) < 0)
      __atomic_add_fetch(&wrong, 1, __ATOMIC_RELAXED);
  work->restarts = interleaved() - (unsigned long)work->rounds;
  return NULL;
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  const int threads = atoi(argv[1]);
  const int rounds = atoi(argv[2]);
  pthread_t handles[64];
  struct work work[64];
  pthread_barrier_init(&start, NULL, (unsigned)threads);
  for (int i = 0; i < threads; ++i) {
    work[i] = (struct work){rounds, 0};
    pthread_create(&handles[i], NULL, worker, &work[i]);
  }
  unsigned long restarts = 0;
  for (int i = 0; i < threads; ++i) {
    pthread_join(handles[i], NULL);
    restarts += work[i].restarts;
  }
  const long all = (long)threads * rounds;
  printf("sections %ld of %ld, wrong %ld, restarts %lu\n", shared.words[0], all, wrong, restarts);
  return shared.words[0] != all || wrong != 0;
}
