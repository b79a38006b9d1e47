// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Clocks of processor time: a thread's while it has a hart, the process's with all that its threads
// had, those that have ended too.
#include <pthread.h>
#include <stdio.h>
#include <sys/resource.h>
#include <time.h>

enum { THREADS = 3, TURNS = 20000, SLEEP_NS = 50000000 };

static int failures;
#define CHECK(condition)                                                                           \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s\n", __LINE__, #condition);                                               \
      failures++;                                                                                  \
    }                                                                                              \
  } while (0)

static long ns_of(clockid_t clock) {
  struct timespec time;
  CHECK(clock_gettime(clock, &time) == 0);
  return time.tv_sec * 1000000000L + time.tv_nsec;
}

static long had[THREADS];
static volatile long sum[THREADS];

static void *run(void *argument) {
  const long number = (long)argument;
  for (long i = 0; i < TURNS; ++i)
    sum[number] += i;
  nanosleep(&(struct timespec){0, SLEEP_NS}, NULL);
  had[number] = ns_of(CLOCK_THREAD_CPUTIME_ID);
  return NULL;
}

int main(void) {
  const long before = ns_of(CLOCK_PROCESS_CPUTIME_ID);
  const long begun = ns_of(CLOCK_MONOTONIC);
  pthread_t threads[THREADS];
  for (long i = 0; i < THREADS; ++i)
    pthread_create(&threads[i], NULL, run, (void *)i);
  for (int i = 0; i < THREADS; ++i)
    pthread_join(threads[i], NULL);
  const long all = ns_of(CLOCK_PROCESS_CPUTIME_ID) - before;
  const long wall = ns_of(CLOCK_MONOTONIC) - begun;
  long sum_of_threads = 0;
  for (int i = 0; i < THREADS; ++i) {
    CHECK(had[i] >= 3L * TURNS); // a turn is some instructions
    CHECK(had[i] < SLEEP_NS);    // and the sleep is none of it
    sum_of_threads += had[i];
  }
  CHECK(wall >= SLEEP_NS);
  CHECK(all >= sum_of_threads);
  CHECK(all < THREADS * wall);
  struct rusage usage;
  CHECK(getrusage(RUSAGE_SELF, &usage) == 0);
  CHECK(usage.ru_utime.tv_sec * 1000000L + usage.ru_utime.tv_usec >= sum_of_threads / 1000);
  printf(failures == 0 ? "clocks: ok\n" : "%d failures\n", failures);
  return failures != 0;
}
