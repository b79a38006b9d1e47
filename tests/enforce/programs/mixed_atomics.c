// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mixed_atomics ROUNDS: one thread changes two counts in a section, one of them by an atomic
// operation; another looks at both in a section, and at a third that only atomic operations
// touch. Status 0: they were always alike.
#include "interleave.h"

#include <pthread.h>
#include <stdlib.h>

static struct {
  long references, same;
} counts;
static long alone;
static int rounds;

__attribute__((atomic)) static void take(void) {
  __sync_add_and_fetch(&counts.references, 1);
  interleave();
  ++counts.same;
}

__attribute__((atomic)) static long difference(void) {
  const long same = counts.same;
  interleave();
  return counts.references - same;
}

__attribute__((atomic)) static void count(void) { __sync_add_and_fetch(&alone, 1); }

static void *worker(void *argument) {
  for (int i = 0; i < rounds; ++i) {
    take();
    count();
  }
  return argument;
}

int main(int argc, char **argv) {
  if (argc != 2)
    return 2;
  rounds = atoi(argv[1]);
  pthread_t other;
  pthread_create(&other, NULL, worker, NULL);
  long wrong = 0;
  for (int i = 0; i < rounds; ++i)
    wrong += difference() != 0;
  pthread_join(other, NULL);
  return wrong != 0 || counts.references != rounds || alone < rounds;
}
