/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 * A commit that has to wait until another transaction, which sleeps, has ended or looked again. */
#include "check.h"

#include <stdatomic.h>
#include <unistd.h>

static long shared, other, own;
static atomic_int reading;

__attribute__((transaction_pure, noinline)) static void sleep_after_the_write(void) {
  atomic_store(&reading, 1);
  while (*(volatile long *)&shared == 0) {
  }
  usleep(300000);
}

__attribute__((noinline)) static void *reader(void *argument) {
  __transaction_atomic {
    own = other;
    sleep_after_the_write();
  }
  return argument;
}

__attribute__((noinline)) static void writer(void) {
  __transaction_atomic { shared = 1; }
}

int main(void) {
  have_a_second_thread();
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, reader, NULL) == 0);
  while (!atomic_load(&reading)) {
  }
  writer();
  EXPECT(pthread_join(thread, NULL) == 0);
  return 0;
}
