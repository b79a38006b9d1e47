// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Handlers, masks, stacks of their own, waits that signals interrupt, threads that are sent one.
#define _GNU_SOURCE
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#define EXPECT(condition)                                                                          \
  do {                                                                                             \
    if (!(condition)) {                                                                            \
      printf("line %d: %s, errno %d\n", __LINE__, #condition, errno);                              \
      exit(1);                                                                                     \
    }                                                                                              \
  } while (0)

static volatile sig_atomic_t count;
static volatile sig_atomic_t on_own_stack;
static char stack[65536];
static pthread_t taker;

static void handler(int signal) {
  (void)signal;
  ++count;
  char here;
  on_own_stack = &here >= stack && &here < stack + sizeof stack;
  taker = pthread_self();
}

static void set(int signal, int flags) {
  struct sigaction action;
  memset(&action, 0, sizeof action);
  action.sa_handler = handler;
  action.sa_flags = flags;
  EXPECT(sigaction(signal, &action, NULL) == 0);
}

static void *wait_for_it(void *unused) {
  (void)unused;
  while (count == 0)
    ;
  return NULL;
}

static void floats_survive(void) {
  volatile double a = 1.5;
  count = 0;
  double sum = 0;
  for (int i = 0; i < 1000; ++i) {
    sum += a;
    if (i % 100 == 0)
      raise(SIGUSR1);
  }
  EXPECT(sum == 1500 && count == 10);
}

int main(void) {
  set(SIGUSR1, 0);
  raise(SIGUSR1);
  EXPECT(count == 1 && !on_own_stack);
  floats_survive();
  sigset_t set_of;
  sigemptyset(&set_of);
  sigaddset(&set_of, SIGUSR1);
  EXPECT(sigprocmask(SIG_BLOCK, &set_of, NULL) == 0);
  count = 0;
  raise(SIGUSR1);
  sigset_t pending;
  EXPECT(count == 0 && sigpending(&pending) == 0 && sigismember(&pending, SIGUSR1));
  EXPECT(sigprocmask(SIG_UNBLOCK, &set_of, NULL) == 0);
  EXPECT(count == 1);
  const stack_t own = {.ss_sp = stack, .ss_size = sizeof stack};
  EXPECT(sigaltstack(&own, NULL) == 0);
  set(SIGUSR2, SA_ONSTACK);
  raise(SIGUSR2);
  EXPECT(count == 2 && on_own_stack);
  set(SIGALRM, 0);
  const struct itimerval soon = {.it_value = {.tv_usec = 2000}};
  EXPECT(setitimer(ITIMER_REAL, &soon, NULL) == 0);
  struct timespec long_time = {.tv_sec = 100};
  struct timespec left = {0};
  EXPECT(nanosleep(&long_time, &left) == -1 && errno == EINTR && left.tv_sec == 99);
  EXPECT(count == 3);
  count = 0;
  pthread_t thread;
  EXPECT(pthread_create(&thread, NULL, wait_for_it, NULL) == 0);
  EXPECT(pthread_kill(thread, SIGUSR1) == 0);
  EXPECT(pthread_join(thread, NULL) == 0);
  EXPECT(count == 1 && pthread_equal(taker, thread));
  EXPECT(sigprocmask(SIG_BLOCK, &set_of, NULL) == 0);
  EXPECT(kill(getpid(), SIGUSR1) == 0);
  int taken = 0;
  EXPECT(sigwait(&set_of, &taken) == 0 && taken == SIGUSR1 && count == 1);
  puts("signals: ok");
  return 0;
}
