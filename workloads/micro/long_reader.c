/* SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
 *
 * A long reader beside a short writer: one thread adds up an array in a transaction, the other
 * moves one from a word of it to another, both without a pause. The sum is 0 in every state that is
 * committed.
 *
 *     long_reader PROCESSORS MILLISECONDS
 *
 * Prints one JSON object: commits of both per second of the wall clock. Status 1 if a sum is wrong.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { WORDS = 100000 };

static long words[WORDS];
static atomic_bool over;
static atomic_long sums, moves, wrong;

static void *reader(void *unused) {
  while (!over) {
    long sum;
    __transaction_atomic {
      sum = 0;
      for (long i = 0; i < WORDS; ++i)
        sum += words[i];
    }
    wrong += sum != 0;
    ++sums;
  }
  return unused;
}

static void *writer(void *unused) {
  unsigned long state = 88172645463325252ul;
  while (!over) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    const unsigned long from = state % WORDS, to = (state >> 32) % WORDS;
    __transaction_atomic {
      --words[from];
      ++words[to];
    }
    ++moves;
  }
  return unused;
}

static double seconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

int main(int count, char **arguments) {
  const long processors = count == 3 ? atol(arguments[1]) : 0;
  const long milliseconds = count == 3 ? atol(arguments[2]) : 0;
  cpu_set_t allowed, used;
  CPU_ZERO(&used);
  if (sched_getaffinity(0, sizeof allowed, &allowed) == 0)
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&used) < processors; ++i)
      if (CPU_ISSET(i, &allowed))
        CPU_SET(i, &used);
  if (processors <= 0 || milliseconds <= 0 || CPU_COUNT(&used) < processors) {
    fprintf(stderr, "usage: long_reader PROCESSORS MILLISECONDS; %d processors are allowed\n",
            CPU_COUNT(&allowed));
    return 2;
  }
  sched_setaffinity(0, sizeof used, &used);
  pthread_t threads[2];
  if (pthread_create(&threads[0], NULL, reader, NULL) != 0 ||
      pthread_create(&threads[1], NULL, writer, NULL) != 0) {
    fprintf(stderr, "long_reader: no thread\n");
    return 2;
  }
  const double begin = seconds();
  const struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000};
  nanosleep(&pause, NULL);
  const long summed = sums, moved = moves;
  const double took = seconds() - begin;
  over = 1;
  pthread_join(threads[0], NULL);
  pthread_join(threads[1], NULL);
  printf("{\"reader\": %.1f, \"writer\": %.1f}\n", (double)summed / took, (double)moved / took);
  return wrong != 0;
}
