/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* A loop with two entries is one section, not one for each time around. */
#include <pthread.h>
#include <stddef.h>
enum { kRounds = 100000 };
static long count;
__attribute__((atomic)) void add(int n, int enter_late) { /* adds n - 1, or n */
  int i = 0;
  if (enter_late)
    goto middle;
top:
  i += 1;
  if (i >= n)
    return;
middle:
  count++;
  if (i < n)
    goto top;
}
__attribute__((atomic)) long get(void) { return count; }
static void *work(void *argument) {
  (void)argument;
  for (int i = 0; i < kRounds; ++i)
    add(4, i & 1);
  return NULL;
}
int main(void) {
  pthread_t thread;
  long torn = 0;
  pthread_create(&thread, NULL, work, NULL);
  for (int i = 0; i < 2 * kRounds; ++i) {
    long seen = get() % 7;
    torn += seen != 0 && seen != 3;
  }
  pthread_join(thread, NULL);
  return torn != 0;
}
