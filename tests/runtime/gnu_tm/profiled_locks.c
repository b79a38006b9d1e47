/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A reader meets a writer that keeps its lock until the reader has begun three times: under an
 * algorithm that locks, and a policy by which the reader gives way. */
#include "check.h"

#include <stdatomic.h>

long contested;
static long own;
static atomic_int writing;
static atomic_int attempts;

__attribute__((transaction_pure, noinline)) static void wait_for_the_reader(void) {
  atomic_store(&writing, 1);
  while (atomic_load(&attempts) < 3)
    ;
}

__attribute__((transaction_pure, noinline)) static void begun(void) {
  atomic_fetch_add(&attempts, 1);
}

__attribute__((noinline)) static void *writer(void *argument) {
  __transaction_atomic {
    contested = 5;
    wait_for_the_reader();
  }
  return argument;
}

__attribute__((noinline)) static void reader(void) {
  __transaction_atomic {
    begun();
    own = contested;
  }
}

int main(void) {
  have_a_second_thread();
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, writer, NULL) == 0);
  while (!atomic_load(&writing))
    ;
  reader();
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT(own == 5 && attempts >= 3);
  return 0;
}
