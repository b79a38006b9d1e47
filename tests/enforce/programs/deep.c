// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A section with large locals beside a recursion that is deep: what calls itself does not get the
// section's frame. Status 0: the sum is right; a stack that is too small ends the program.
#include <pthread.h>
#include <stdlib.h>
#include <tandem/tandem.h>

enum { kWords = 8192, kDepth = 300 }; // 64 KiB at each level would be 19 MiB

static long cells[kWords];
static long entered;

TANDEM_ATOMIC static long turn(long by) {
  long copies[kWords];
  for (int i = 0; i < kWords; ++i)
    copies[i] = cells[(i * 7 + by) % kWords];
  for (int i = 0; i < kWords; ++i)
    cells[i] = copies[(i * 3 + by) % kWords] + 1;
  return ++entered;
}

// `path` keeps this from becoming a loop.
static __attribute__((noinline)) long walk(long depth, const long *path) {
  if (depth == 0)
    return *path;
  const long here[2] = {turn(depth), path[0]};
  return walk(depth - 1, here) + here[0] - here[1];
}

static void *run(void *argument) {
  const long first = 0;
  *(long *)argument = walk(kDepth, &first);
  return NULL;
}

int main(void) {
  pthread_t thread;
  pthread_attr_t attributes;
  long result = 0;
  if (pthread_attr_init(&attributes) != 0 || pthread_attr_setstacksize(&attributes, 8 << 20) != 0 ||
      pthread_create(&thread, &attributes, run, &result) != 0 || pthread_join(thread, NULL) != 0)
    return 2;
  long sum = 0;
  for (int i = 0; i < kWords; ++i)
    sum += cells[i];
  // The last level returns its own number, the ones above add theirs and take away those before.
  return !(entered == kDepth && result == 2 * kDepth && sum == (long)kWords * kDepth);
}
