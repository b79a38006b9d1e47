// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Waits with a deadline: one that has passed, one that passes, one that is far away, and what is no
// time; by the clock of the condition, and by one that the call names.
#define _GNU_SOURCE // pthread_cond_clockwait()
#include "threads.h"

#include <errno.h>
#include <time.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t real_time = PTHREAD_COND_INITIALIZER, monotonic, done;
static long value, finished;
static unsigned threads;

static struct timespec in(clockid_t clock, long seconds, long milliseconds) {
  struct timespec time;
  clock_gettime(clock, &time);
  time.tv_sec += seconds;
  time.tv_nsec += milliseconds * 1000000;
  if (time.tv_nsec >= 1000000000) {
    time.tv_nsec -= 1000000000;
    ++time.tv_sec;
  }
  return time;
}

static int has_passed(clockid_t clock, struct timespec until) {
  const struct timespec now = in(clock, 0, 0);
  return now.tv_sec > until.tv_sec || (now.tv_sec == until.tv_sec && now.tv_nsec >= until.tv_nsec);
}

// Nobody signals meanwhile: what the wait returns, and `early` if before its time.
static int alone(pthread_cond_t *condition, clockid_t clock, struct timespec until) {
  enum { early = -1 };
  pthread_mutex_lock(&lock);
  ++value;
  const int result = pthread_cond_timedwait(condition, &lock, &until);
  --value;
  pthread_mutex_unlock(&lock);
  return result == ETIMEDOUT && !has_passed(clock, until) ? early : result;
}

static int with_clock(pthread_cond_t *condition, clockid_t clock, struct timespec until) {
  pthread_mutex_lock(&lock);
  const int result = pthread_cond_clockwait(condition, &lock, clock, &until);
  pthread_mutex_unlock(&lock);
  return result;
}

static void work(unsigned thread) {
  const struct timespec far = in(CLOCK_REALTIME, 3600, 0);
  pthread_mutex_lock(&lock);
  if (++finished == (long)threads)
    pthread_cond_broadcast(&done);
  while (finished != (long)threads)
    if (thread % 2 == 0)
      pthread_cond_wait(&done, &lock);
    else if (pthread_cond_timedwait(&done, &lock, &far) != 0)
      abort();
  pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv) {
  pthread_condattr_t attributes;
  pthread_condattr_init(&attributes);
  pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
  pthread_cond_init(&monotonic, &attributes);
  pthread_cond_init(&done, NULL);
  struct timespec no_time = in(CLOCK_REALTIME, 0, 0);
  no_time.tv_nsec = 1000000000;
  struct timespec before_all = {-1, 0};
  int wrong = 0;
  const struct {
    int result, wanted;
  } results[] = {
      {alone(&real_time, CLOCK_REALTIME, in(CLOCK_REALTIME, -1, 0)), ETIMEDOUT},
      {alone(&real_time, CLOCK_REALTIME, in(CLOCK_REALTIME, 0, 20)), ETIMEDOUT},
      {alone(&real_time, CLOCK_REALTIME, before_all), ETIMEDOUT},
      {alone(&real_time, CLOCK_REALTIME, no_time), EINVAL},
      {alone(&monotonic, CLOCK_MONOTONIC, in(CLOCK_MONOTONIC, -1, 0)), ETIMEDOUT},
      {alone(&monotonic, CLOCK_MONOTONIC, in(CLOCK_MONOTONIC, 0, 20)), ETIMEDOUT},
      {with_clock(&real_time, CLOCK_MONOTONIC, in(CLOCK_MONOTONIC, 0, 20)), ETIMEDOUT},
      {with_clock(&monotonic, CLOCK_REALTIME, in(CLOCK_REALTIME, 0, 20)), ETIMEDOUT},
      {with_clock(&real_time, CLOCK_REALTIME, no_time), EINVAL},
      {with_clock(&real_time, CLOCK_PROCESS_CPUTIME_ID, in(CLOCK_REALTIME, 0, 20)), EINVAL},
  };
  for (unsigned i = 0; i < sizeof results / sizeof *results; ++i) {
    printf("%u: %d\n", i, results[i].result);
    wrong += expect("result", results[i].result, results[i].wanted);
  }
  threads = argc > 1 ? (unsigned)atoi(argv[1]) : 4;
  run(argc, argv, work);
  printf("finished %ld\n", finished);
  return wrong + expect("finished", finished, threads) + expect("value", value, 0);
}
