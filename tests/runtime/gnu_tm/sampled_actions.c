/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * Sections whose commits run an action that is a section itself, and a child process that has some
 * of its own. */
#include "check.h"

#include <stdint.h>
#include <sys/wait.h>

enum { TIMES = 2000, BEFORE_FORK = 300, OF_CHILD = 20 };

void _ITM_addUserCommitAction(void (*action)(void *), uint64_t transaction, void *argument);

static long outer, inner, own;

__attribute__((noinline)) static void within(void *argument) {
  (void)argument;
  __transaction_atomic { ++inner; }
}

__attribute__((transaction_pure, noinline)) static void ask(void) {
  _ITM_addUserCommitAction(within, 1, NULL);
}

__attribute__((noinline)) static void around(void) {
  __transaction_atomic {
    ask();
    ++outer;
  }
}

__attribute__((noinline)) static void child(void) {
  __transaction_atomic { ++own; }
}

int main(int argc, char **argv) {
  (void)argv;
  have_a_second_thread();
  if (argc == 1) {
    for (int i = 0; i < TIMES; ++i)
      around();
    return outer == TIMES && inner == TIMES ? 0 : 1;
  }
  for (int i = 0; i < BEFORE_FORK; ++i)
    around();
  const pid_t forked = fork();
  for (int i = 0; forked == 0 && i < OF_CHILD; ++i)
    child();
  int status = 0;
  if (forked != 0)
    EXPECT(waitpid(forked, &status, 0) == forked && status == 0);
  return 0;
}
