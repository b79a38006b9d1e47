/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A transaction that has written is told to begin again by one that is older and reads the same:
 * under an algorithm that writes in place, and the policy `timestamp`. */
#include "check.h"

#include <stdatomic.h>

long contested;
long own, table[64], sum; /* as far as gcc knows others use them too */
static atomic_int begun, written, attempts;

__attribute__((transaction_pure, noinline)) static void wait_for_the_write(void) {
  atomic_store(&begun, 1);
  while (!atomic_load(&written)) {
  }
}

__attribute__((transaction_pure, noinline)) static int is_first(int begins) {
  if (begins)
    atomic_fetch_add(&attempts, 1);
  else
    atomic_store(&written, 1);
  return atomic_load(&attempts) < 2;
}

__attribute__((noinline)) static void *victim(void *argument) {
  while (!atomic_load(&begun)) {
  }
  __transaction_atomic {
    is_first(1);
    contested = 5;
    for (long i = 0; is_first(0); ++i) /* until it is undone */
      sum += table[i & 63];
  }
  return argument;
}

__attribute__((noinline)) static void killer(void) {
  __transaction_atomic {
    wait_for_the_write();
    own = contested;
  }
}

int main(void) {
  have_a_second_thread();
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, victim, NULL) == 0);
  killer();
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT(contested == 5 && attempts == 2 && (own == 0 || own == 5));
  return 0;
}
