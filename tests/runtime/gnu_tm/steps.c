// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps through one transaction of a child process and prints, for each instruction that it
// executes in libitm.so.1, the place in the library. A second thread is alive. Exit status 0, or 1
// where the child did not do what it should.
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WARM_UPS = 1000, MOST_STEPS = 100000 };

static long cell;

__attribute__((noinline)) static void section(void) {
  __transaction_atomic { ++cell; }
}

static void *idle(void *unused) {
  for (;;)
    pause();
  return unused;
}

static void child(void) {
  pthread_t thread;
  pthread_create(&thread, NULL, idle, NULL);
  ptrace(PTRACE_TRACEME, 0, NULL, NULL);
  for (int i = 0; i < WARM_UPS; ++i)
    section();
  raise(SIGSTOP);
  section();
  raise(SIGSTOP);
  _exit(cell == WARM_UPS + 1 ? 0 : 1);
}

/* Where the library is mapped. */
static void find_library(pid_t process, unsigned long long *begin, unsigned long long *end) {
  char line[4096];
  snprintf(line, sizeof line, "/proc/%d/maps", process);
  FILE *maps = fopen(line, "r");
  *begin = *end = 0;
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    unsigned long long from, to;
    if (strstr(line, "/libitm.so.1") == NULL || sscanf(line, "%llx-%llx", &from, &to) != 2)
      continue;
    if (*begin == 0)
      *begin = from;
    *end = to;
  }
  if (maps != NULL)
    fclose(maps);
}

int main(void) {
  pid_t process = fork();
  if (process == 0)
    child();
  int status;
  waitpid(process, &status, 0);
  if (!WIFSTOPPED(status) || WSTOPSIG(status) != SIGSTOP)
    return 1;
  unsigned long long begin, end;
  find_library(process, &begin, &end);
  for (int step = 0; step < MOST_STEPS; ++step) {
    struct user_regs_struct registers;
    ptrace(PTRACE_SINGLESTEP, process, NULL, NULL);
    waitpid(process, &status, 0);
    if (!WIFSTOPPED(status))
      return 1;
    if (WSTOPSIG(status) == SIGSTOP)
      break;
    ptrace(PTRACE_GETREGS, process, NULL, &registers);
    if (registers.rip >= begin && registers.rip < end)
      printf("%llx\n", registers.rip - begin);
  }
  ptrace(PTRACE_CONT, process, NULL, NULL);
  waitpid(process, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0 ? 0 : 1;
}
