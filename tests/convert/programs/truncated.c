// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A flag that is not zero, and zero in the part that a branch asks: no release guarded by it runs.
#include "threads.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long count;

static void add(void) {
  int keep = 256;
  pthread_mutex_lock(&lock);
  if ((unsigned char)keep) {
    pthread_mutex_unlock(&lock);
    return;
  }
  count += 1;
  pthread_mutex_unlock(&lock);
}

static void work(unsigned thread) {
  (void)thread;
  for (long i = 0; i < kRounds; ++i)
    add();
}

int main(int argc, char **argv) {
  const unsigned threads = run(argc, argv, work);
  return expect("count", count, kRounds * threads);
}
