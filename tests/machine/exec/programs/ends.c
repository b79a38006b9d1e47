// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ends HOW: the ways in which a program ends.
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;

__attribute__((noipa)) static void touches_nothing(volatile int *place) { *place = 1; }

int main(int argc, char **argv) {
  const char *how = argc > 1 ? argv[1] : "";
  if (strcmp(how, "status") == 0)
    return atoi(argv[2]);
  if (strcmp(how, "null") == 0)
    touches_nothing((volatile int *)8);
  if (strcmp(how, "abort") == 0)
    abort();
  if (strcmp(how, "illegal") == 0)
    __asm__ volatile(".word 0");
  if (strcmp(how, "misaligned") == 0)
    __asm__ volatile("amoadd.w zero, zero, (%0)" ::"r"(how + 1 - ((unsigned long)how & 1)));
  if (strcmp(how, "deadlock") == 0) {
    pthread_mutex_lock(&mutex);
    pthread_mutex_lock(&mutex);
  }
  if (strcmp(how, "for-ever") == 0)
    for (;;)
      __asm__ volatile("");
  if (strcmp(how, "fork") == 0)
    return fork() < 0 ? 9 : 0;
  if (strcmp(how, "cat") == 0) {
    char line[256];
    while (fgets(line, sizeof line, stdin) != NULL)
      fputs(line, stdout);
  }
  if (strcmp(how, "memory") == 0)
    for (;;)
      memset(malloc(1 << 20), 1, 1 << 20);
  return 0;
}
