/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception */
/* Transactions whose logs would be larger than the memory that the process may still take: they run
 * all the same, and atomically. The number: bytes beside what the process has. `read`: only what is
 * read is large; `calls`: and the C library's memory comes in. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { kWords = 1 << 18, kThreads = 3, kRounds = 4 };
static long words[kWords];
static long total;
static int only_reads;
static int with_calls;
static char text[1 << 16];
static pthread_barrier_t limited;

static void *work(void *unused) {
  (void)unused;
  pthread_barrier_wait(&limited);
  for (int round = 0; round < kRounds; ++round)
    __transaction_atomic {
      long sum = 0;
      for (int i = 0; i < kWords; ++i) {
        sum += words[i];
        if (!only_reads)
          words[i] += 1;
      }
      if (with_calls) {
        char *copy = malloc(sizeof text);
        if (copy != NULL)
          memcpy(copy, text, sizeof text);
        free(copy);
      }
      total += 1 + 0 * sum;
    }
  return NULL;
}

static long in_use(void) {
  long pages = 0;
  FILE *file = fopen("/proc/self/statm", "r");
  if (file == NULL || fscanf(file, "%ld", &pages) != 1)
    abort();
  fclose(file);
  return pages * sysconf(_SC_PAGESIZE);
}

int main(int argc, char **argv) {
  const long room = argc > 1 ? atol(argv[1]) : 0;
  only_reads = argc > 2 && strcmp(argv[2], "read") == 0;
  with_calls = argc > 2 && strcmp(argv[2], "calls") == 0;
  pthread_t threads[kThreads];
  pthread_barrier_init(&limited, NULL, kThreads + 1);
  for (int i = 0; i < kThreads; ++i)
    if (pthread_create(&threads[i], NULL, work, NULL) != 0)
      return 4;
  struct rlimit limit;
  getrlimit(RLIMIT_AS, &limit);
  limit.rlim_cur = (rlim_t)(in_use() + room);
  if (setrlimit(RLIMIT_AS, &limit) != 0)
    return 3;
  pthread_barrier_wait(&limited);
  for (int i = 0; i < kThreads; ++i)
    pthread_join(threads[i], NULL);
  for (int i = 0; i < kWords; ++i)
    if (words[i] != (only_reads ? 0 : kThreads * kRounds)) {
      printf("word %d is %ld\n", i, words[i]);
      return 1;
    }
  printf("%ld\n", total);
  return total != kThreads * kRounds;
}
