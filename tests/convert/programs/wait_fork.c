// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// A process forks while its threads sleep. The child has none of them, and threads of its own that
// wait for the same condition: its signals are for these.
#include "threads.h"

#include <sys/wait.h>
#include <unistd.h>

enum { kTurns = 200 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static long turn, asleep, woken, over, sleepers;

static void take_turns(unsigned thread) {
  for (long i = 0; i < kTurns; ++i) {
    pthread_mutex_lock(&lock);
    while (turn % 2 != (long)thread)
      pthread_cond_wait(&changed, &lock);
    ++turn;
    pthread_mutex_unlock(&lock);
    pthread_cond_signal(&changed);
  }
}

static int child(void) {
  run_in(2, take_turns);
  return expect("turn", turn, 2 * kTurns);
}

static void sleep_or_fork(unsigned thread) {
  if (thread != 0) {
    pthread_mutex_lock(&lock);
    ++asleep;
    while (!over)
      pthread_cond_wait(&changed, &lock);
    ++woken;
    pthread_mutex_unlock(&lock);
    return;
  }
  for (long ready = 0; ready < sleepers;) {
    usleep(1000);
    pthread_mutex_lock(&lock);
    ready = asleep;
    pthread_mutex_unlock(&lock);
  }
  usleep(10000); // they may sleep now
  const pid_t made = fork();
  if (made == 0)
    _exit(child());
  int status = 1;
  waitpid(made, &status, 0);
  printf("child %d\n", status);
  pthread_mutex_lock(&lock);
  over = 1;
  pthread_cond_broadcast(&changed);
  pthread_mutex_unlock(&lock);
}

int main(int argc, char **argv) {
  sleepers = argc > 1 ? atoi(argv[1]) : 4;
  run_in((unsigned)sleepers + 1, sleep_or_fork);
  printf("woken %ld\n", woken);
  return expect("woken", woken, sleepers);
}
