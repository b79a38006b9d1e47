// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A wait whose end the section itself computes, from the time at which it runs: it comes to it.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <threads.h>
#include <time.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static mtx_t other;
static cnd_t no_more;
static int there;

static void add_100_ms(struct timespec *time) {
  time->tv_nsec += 100000000;
  if (time->tv_nsec >= 1000000000) {
    time->tv_nsec -= 1000000000;
    ++time->tv_sec;
  }
}

__attribute__((atomic)) static int wait_for_it(void) {
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  add_100_ms(&until);
  int status = 0;
  while (there == 0 && status == 0)
    status = pthread_cond_timedwait(&never, &mutex, &until);
  return status;
}

__attribute__((atomic)) static int wait_by_c11(void) {
  struct timespec until;
  timespec_get(&until, TIME_UTC);
  add_100_ms(&until);
  int status = thrd_success;
  while (there == 0 && status == thrd_success)
    status = cnd_timedwait(&no_more, &other, &until);
  return status;
}

static void *live(void *argument) {
  thrd_sleep(&(struct timespec){.tv_nsec = 10000000}, NULL);
  return argument;
}

int main(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, live, NULL);
  mtx_init(&other, mtx_plain);
  cnd_init(&no_more);
  printf("%s", wait_for_it() == ETIMEDOUT ? "in time" : "not in time");
  printf(" %s\n", wait_by_c11() == thrd_timedout ? "in time" : "not in time");
  pthread_join(thread, NULL);
  return 0;
}
