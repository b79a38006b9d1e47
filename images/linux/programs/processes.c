// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// processes COUNT: forks, executes itself, and sums what the children answer through pipes and by
// their statuses. Prints the sum.
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static int child(int number) {
  printf("%d\n", number * number);
  return number & 63;
}

int main(int argc, char **argv) {
  if (argc == 3)
    return child(atoi(argv[2]));
  const int count = argc > 1 ? atoi(argv[1]) : 20;
  long sum = 0;
  for (int number = 1; number <= count; ++number) {
    int ends[2];
    if (pipe(ends) != 0)
      return 2;
    const pid_t pid = fork();
    if (pid < 0)
      return 2;
    if (pid == 0) {
      char text[16];
      snprintf(text, sizeof text, "%d", number);
      dup2(ends[1], 1);
      close(ends[0]);
      close(ends[1]);
      execl("/proc/self/exe", "processes", "child", text, (char *)NULL);
      _exit(127);
    }
    close(ends[1]);
    FILE *from = fdopen(ends[0], "r");
    long answer = 0;
    if (from == NULL || fscanf(from, "%ld", &answer) != 1)
      return 3;
    fclose(from);
    int status = 0;
    if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) ||
        WEXITSTATUS(status) != (number & 63) || answer != (long)number * number)
      return 4;
    sum += answer;
  }
  printf("%ld\n", sum);
  return sum == (long)count * (count + 1) * (2 * count + 1) / 6 ? 0 : 5;
}
