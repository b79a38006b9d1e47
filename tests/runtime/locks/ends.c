// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Two locks, one hot, acquired by two threads; then the process ends as it is told to.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static pthread_mutex_t hot = PTHREAD_MUTEX_INITIALIZER, cold = PTHREAD_MUTEX_INITIALIZER;
static long count;
static int *volatile nowhere;

static void *work(void *argument) {
  for (int i = 0; i < 1000; ++i) {
    pthread_mutex_lock(&hot);
    ++count;
    pthread_mutex_unlock(&hot);
  }
  pthread_mutex_lock(&cold);
  ++count;
  pthread_mutex_unlock(&cold);
  return argument;
}

static void run_threads(void) {
  pthread_t threads[2];
  for (int i = 0; i < 2; ++i)
    pthread_create(&threads[i], NULL, work, NULL);
  for (int i = 0; i < 2; ++i)
    pthread_join(threads[i], NULL);
}

static void give_up(int signal) { _exit(signal); }

static int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status);
}

int main(int count_of, char **arguments) {
  run_threads();
  const char *how = count_of == 2 ? arguments[1] : "";
  if (strcmp(how, "quick_exit") == 0)
    quick_exit(4);
  if (strcmp(how, "_exit") == 0)
    _exit(3);
  if (strcmp(how, "terminate") == 0) {
    kill(getpid(), SIGTERM);
    pause();
  }
  if (strcmp(how, "handler") == 0) { // mostly inside of malloc, whose lock it then has
    signal(SIGALRM, give_up);
    ualarm(50000, 0);
    void *blocks[64];
    for (;;) {
      for (int i = 0; i < 64; ++i)
        blocks[i] = malloc(1100 + 48 * (size_t)i);
      for (int i = 0; i < 64; ++i)
        free(blocks[i]);
    }
  }
  if (strcmp(how, "pthread_exit") == 0) // and the last thread ends the process
    pthread_exit(0);
  if (strcmp(how, "fault") == 0)
    *nowhere = 1;
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "exec") == 0)
    execlp("false", "false", "argument", (char *)NULL);
  if (strcmp(how, "vfork") == 0) {
    const pid_t child = vfork();
    if (child == 0) {
      execl("/bin/false", "false", (char *)NULL);
      _exit(9);
    }
    return status_of(child);
  }
  if (strcmp(how, "fork") == 0) {
    const pid_t child = fork();
    if (child == 0) {
      run_threads();
      raise(SIGTERM);
    }
    return status_of(child);
  }
  return 0;
}
