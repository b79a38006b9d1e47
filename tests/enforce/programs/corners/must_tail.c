/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* What a section ends with by a guaranteed tail call is inside it. */
#include <pthread.h>
#include <stddef.h>
enum { kThreads = 2, kRounds = 50000, kAdds = 9 };
static long count;
static __attribute__((noinline)) long once(long n) {
  count = count + 1;
  return n;
}
static __attribute__((noinline)) long more(long n) {
  for (long i = 0; i < n; ++i)
    count = count + 1;
  return count;
}
__attribute__((atomic)) long section(long n) {
  if (once(n) == kRounds)
    return 1;
  __attribute__((musttail)) return more(n);
}
static void *work(void *argument) {
  (void)argument;
  for (int i = 0; i < kRounds; ++i)
    section(kAdds);
  return NULL;
}
int main(void) {
  pthread_t threads[kThreads];
  for (int i = 0; i < kThreads; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  return count != (long)kThreads * kRounds * (kAdds + 1);
}
